#!/bin/bash
# Runs as root on every node of a job before it starts: are all accelerators there and sound? Then it makes the job a
# folder on local NVMe and tells the exporter whose the GPUs are.
#
# Slurm drains a node whose prolog fails, but names no reason, and holds the job until somebody releases it. So a fault
# drains the node with its reason and sends the job elsewhere from here; only a job that cannot be sent elsewhere fails.
# What is missing but not a fault (a tool, the disk, the exporter's folder) never stops a job.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:/opt/slurm/bin:/opt/aws/neuron/bin
[[ $SLURM_JOB_ID =~ ^[0-9]+$ && -r /etc/hyperpod-jobs.conf ]] || exit 0
kind='' accelerators=0 patience=30 scratch='' gpu_jobs=''
# shellcheck source=/dev/null
. /etc/hyperpod-jobs.conf

fault() {
  echo "hyperpod-prolog: $1" >&2
  timeout 20 scontrol update "nodename=$SLURMD_NODENAME" state=drain "reason=hyperpod-prolog: $1" || exit 1
  timeout 20 scontrol requeue "$SLURM_JOB_ID" || exit 1
  exit 0
}

# What a program says, and as its last line its exit code. It may hang in the driver, where no signal reaches it, so the
# reader gives up, not the program; and it must not hold our own output, which slurmd reads to the end.
ask() {
  local said
  IFS= read -r -d '' -t "$patience" said < <(
    exec 2>&1
    "$@"
    echo "$?"
  )
  (($? > 128)) && fault "$1 did not answer within $patience s"
  said=${said%$'\n'}
  code=${said##*$'\n'}
  answer=${said%"$code"}
}

check_gpus() {
  command -v nvidia-smi >/dev/null || return
  ask nvidia-smi --query-gpu=index --format=csv,noheader
  ((code == 0)) || fault "nvidia-smi ended with code $code: ${answer%%$'\n'*}"
  local there
  there=$(grep -c . <<<"$answer")
  ((there >= accelerators)) || fault "$there of $accelerators GPUs answer"
  ask nvidia-smi --query-gpu=index,ecc.errors.uncorrected.volatile.total --format=csv,noheader,nounits
  local bad
  bad=$(awk -F', *' '$2 + 0 > 0 { print "GPU " $1 " has " $2 " uncorrectable memory errors"; exit }' <<<"$answer")
  ((code != 0)) || [[ -z $bad ]] || fault "$bad since it was reset"
}

check_neuron() {
  command -v neuron-ls >/dev/null || return
  ask neuron-ls --json-output
  ((code == 0)) || fault "neuron-ls ended with code $code: ${answer%%$'\n'*}"
  local there
  there=$(grep -o '"neuron_device"' <<<"$answer" | wc -l)
  ((there >= accelerators)) || fault "$there of $accelerators Neuron devices answer"
}

case $kind in
gpu) check_gpus ;;
neuron) check_neuron ;;
esac

# The folder above is only root's: nobody can put a link in the place of a job's folder.
if [[ -n $scratch ]] && mountpoint -q "$scratch"; then
  [[ -e $scratch/jobs ]] || mkdir -m 711 "$scratch/jobs"
  if cd -P "$scratch/jobs" && [[ $(stat -c %u:%a .) == 0:711 && $(pwd -P) == "$scratch/jobs" ]]; then
    # Numbers begin again when a controller is lost: what an older job of somebody else's has left is not this job's.
    if [[ -e $SLURM_JOB_ID && $(stat -c %u "$SLURM_JOB_ID") != "$SLURM_JOB_UID" ]]; then
      mv -T "$SLURM_JOB_ID" ".gone-$SLURM_JOB_ID-$$"
    fi
    [[ -d $SLURM_JOB_ID ]] || mkdir -m 700 "$SLURM_JOB_ID"
    chown "$SLURM_JOB_UID" "$SLURM_JOB_ID"
  else
    echo "hyperpod-prolog: $scratch/jobs is not root's alone (0711); job $SLURM_JOB_ID has no scratch folder" >&2
  fi
fi

if [[ -d $gpu_jobs ]]; then
  for gpu in ${SLURM_JOB_GPUS//,/ }; do
    echo "$SLURM_JOB_ID" >"$gpu_jobs/$gpu"
  done
fi
exit 0
