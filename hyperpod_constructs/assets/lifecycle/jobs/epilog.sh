#!/bin/bash
# Runs as root on every node of a job after it: takes away its folder on local NVMe and its name from the GPUs. It never
# fails, because Slurm drains a node whose epilog does.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
[[ $SLURM_JOB_ID =~ ^[0-9]+$ && -r /etc/hyperpod-jobs.conf ]] || exit 0
scratch='' gpu_jobs=''
# shellcheck source=/dev/null
. /etc/hyperpod-jobs.conf

if [[ -d $gpu_jobs ]]; then
  for gpu in ${SLURM_JOB_GPUS//,/ }; do
    rm -f "$gpu_jobs/$gpu"
  done
fi

# Only from inside a folder that is root's alone, and by names relative to it. What takes long goes on after the next job.
if [[ -n $scratch ]] && cd -P "$scratch/jobs" 2>/dev/null; then
  if [[ $(stat -c %u:%a .) == 0:711 && $(pwd -P) == "$scratch/jobs" ]]; then
    [[ ! -e $SLURM_JOB_ID ]] || mv -T "$SLURM_JOB_ID" ".gone-$SLURM_JOB_ID-$$"
    timeout 60 rm -rf --one-file-system -- .gone-*
  fi
fi
exit 0
