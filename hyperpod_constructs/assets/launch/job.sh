set -euo pipefail
readonly BAD_NODES=78 TOO_MANY_RESTARTS=79
readonly RESTARTS=${SLURM_RESTART_COUNT:-0}

say() { printf 'job: %s\n' "$*"; }

# Ends the job. Slurm does not start a job again because it has exited, so no mistake is repeated for ever.
refuse() {
  say "refused: $*" >&2
  exit "$BAD_NODES"
}

# One value of slurm.conf.
configured() { scontrol show config | sed -n "s/^$1 *= *//p"; }

check_job() {
  [[ $RESTARTS -le $HYPERPOD_MAX_RESTARTS ]] || {
    say "refused: start number $((RESTARTS + 1)), and HYPERPOD_MAX_RESTARTS allows $HYPERPOD_MAX_RESTARTS restarts" >&2
    exit "$TOO_MANY_RESTARTS"
  }
  [[ $SLURM_JOB_NUM_NODES == "$HYPERPOD_NODES" ]] ||
    refuse "has $SLURM_JOB_NUM_NODES nodes, was written for $HYPERPOD_NODES: write the file again with --nodes"
  [[ $HYPERPOD_RECOVERY != auto-resume ]] || check_auto_resume
}

# Works with every TaskPlugin: requeue. Needs one: auto-resume (SageMaker developer guide, Slurm FAQ, October 2026).
check_auto_resume() {
  local plugin parameters
  plugin=$(configured TaskPlugin) parameters=$(configured SchedulerParameters)
  [[ $plugin == *task/none* || $plugin == "(null)" ]] ||
    refuse "auto-resume needs TaskPlugin=task/none in slurm.conf, which has $plugin; or use --recovery requeue"
  [[ ,$parameters, == *,permit_job_expansion,* ]] ||
    refuse "auto-resume needs SchedulerParameters=permit_job_expansion in slurm.conf, which has $parameters"
  [[ -d /opt/sagemaker_cluster || $(srun --help) == *--auto-resume* ]] ||
    refuse "this srun has no --auto-resume: that is HyperPod's; or use --recovery requeue"
}

# Runs on every node. Prints what is wrong with it, all of it, and fails if anything is.
check_node() {
  local found wrong=0
  problem() { wrong=1 && printf 'job: node %s: %s\n' "${SLURMD_NODENAME:-$(hostname)}" "$*" >&2; }
  count() { (($# == 1)) && [[ ! -e $1 ]] && echo 0 || echo $#; }

  case $HYPERPOD_KIND in
    gpu)
      if command -v nvidia-smi >/dev/null; then
        found=$(nvidia-smi --list-gpus | grep -c '^GPU ') || true
      else
        found=$(count "$HYPERPOD_DEV"/nvidia[0-9]*)
      fi
      ;;
    neuron) found=$(count "$HYPERPOD_DEV"/neuron[0-9]*) ;;
    *) found=$HYPERPOD_ACCELERATORS ;;
  esac
  [[ $found == "$HYPERPOD_ACCELERATORS" ]] ||
    problem "$found accelerators, $HYPERPOD_TYPE has $HYPERPOD_ACCELERATORS"

  if [[ -n $HYPERPOD_EFA ]]; then
    found=$(count "$HYPERPOD_SYS"/class/infiniband/*)
    if [[ $found == 0 ]] && command -v fi_info >/dev/null; then
      found=$(fi_info -p efa -t FI_EP_RDM 2>/dev/null | sed -n 's/^ *domain: //p' | sort -u | wc -l)
    fi
    [[ $found == "$HYPERPOD_EFA" ]] || problem "$found EFA devices, $HYPERPOD_TYPE has $HYPERPOD_EFA"
  fi

  [[ $(cat "$HYPERPOD_RUN/shared" 2>/dev/null) == "$SLURM_JOB_ID $HYPERPOD_START" ]] ||
    problem "$HYPERPOD_RUN is not the folder that the first node sees: is $HYPERPOD_SHARED mounted?"
  { : >"$HYPERPOD_RUN/.node-$SLURM_NODEID" && rm "$HYPERPOD_RUN/.node-$SLURM_NODEID"; } 2>/dev/null ||
    problem "$HYPERPOD_RUN cannot be written to by $(id -un)"
  [[ -z $HYPERPOD_LAUNCH || -r $HYPERPOD_LAUNCH/train.py && -r $HYPERPOD_LAUNCH/heartbeat.py ]] ||
    problem "$HYPERPOD_LAUNCH lacks train.py or heartbeat.py: \`hyperpod job --out\` writes both; submit from there"
  return "$wrong"
}

check_nodes() {
  HYPERPOD_START=$RESTARTS-$(date +%s)
  export HYPERPOD_START
  { mkdir -p "$HYPERPOD_RUN" && echo "$SLURM_JOB_ID $HYPERPOD_START" >"$HYPERPOD_RUN/shared"; } 2>/dev/null ||
    refuse "$HYPERPOD_RUN cannot be written to: is $HYPERPOD_SHARED mounted on $(hostname)? Name another with --shared"
  on_every_node bash -c "$(declare -f check_node); check_node" || refuse "a node is not what it should be, see above"
  say "self-check passed: $SLURM_JOB_NUM_NODES nodes ($SLURM_JOB_NODELIST), each with $HYPERPOD_ACCELERATORS" \
    "accelerators and ${HYPERPOD_EFA:-any number of} EFA devices; $HYPERPOD_RUN is shared"
}

on_every_node() { srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 "$@"; }

# Address of the first node. Slurm's own, because names of nodes need not resolve.
first_address() {
  scontrol show node "$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)" |
    sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p'
}

# Runs in every task: what torchrun would tell a process, where Slurm starts one for each accelerator.
launch() {
  if [[ $HYPERPOD_PER == accelerator ]]; then
    export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS
  fi
  export NODE_RANK=$SLURM_NODEID
  exec bash -c "$HYPERPOD_COMMAND"
}

train() {
  local options=(--nodes="$SLURM_JOB_NUM_NODES")
  [[ $(configured TaskPlugin) == *task/none* ]] || options+=(--cpu-bind=none) # a task may use every CPU of its node
  if [[ $HYPERPOD_RECOVERY == auto-resume ]]; then
    options+=(--auto-resume=1)
  else
    options+=(--kill-on-bad-exit=1)
  fi
  if [[ -n $HYPERPOD_IMAGE ]]; then
    local mounts=$HYPERPOD_SHARED:$HYPERPOD_SHARED
    [[ -z $HYPERPOD_LAUNCH ]] || mounts+=,$HYPERPOD_LAUNCH:$HYPERPOD_LAUNCH
    [[ ! -d $HYPERPOD_TEXTFILE_DIR ]] || mounts+=,$HYPERPOD_TEXTFILE_DIR:$HYPERPOD_TEXTFILE_DIR
    options+=(--container-image="$HYPERPOD_IMAGE" --container-mounts="$mounts")
  fi
  srun "${options[@]}" bash -c "$(declare -f launch); launch"
}

# The command has failed. Slurm by itself requeues a job only if it loses a node before the command ends, and a command
# that talks over the network ends before Slurm has noticed. So: requeue where a node does not answer, or where the
# command ran long enough for a fault of the machine to be more likely than one of the program. Not where somebody, or
# the time limit, has ended the job: Slurm does not call it running then.
requeue_or_end() {
  local code=$1 ran=$2 why=""
  if [[ $HYPERPOD_RECOVERY != requeue || $(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%T) != RUNNING ]]; then
    :
  elif ! timeout 60 srun --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 true 2>/dev/null; then
    why="a node does not answer"
  elif ((ran >= HYPERPOD_REQUEUE_AFTER)); then
    why="it ran for $ran s, more than HYPERPOD_REQUEUE_AFTER=$HYPERPOD_REQUEUE_AFTER"
  fi
  say "command ended with $code after $ran s${why:+; $why}"
  if [[ -n $why ]] && ((RESTARTS >= HYPERPOD_MAX_RESTARTS)); then
    say "not requeued: HYPERPOD_MAX_RESTARTS=$HYPERPOD_MAX_RESTARTS"
  elif [[ -n $why ]] && scontrol requeue "$SLURM_JOB_ID"; then
    sleep 300 # Slurm ends this script meanwhile
  fi
  exit "$code"
}

main() {
  say "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, restart $RESTARTS of at most $HYPERPOD_MAX_RESTARTS," \
    "$HYPERPOD_RECOVERY, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  check_job
  check_nodes
  MASTER_ADDR=${MASTER_ADDR:-$(first_address)}
  MASTER_PORT=${MASTER_PORT:-$((20000 + SLURM_JOB_ID % 10000))} # below the ports that Linux gives to others
  export MASTER_ADDR MASTER_PORT
  local code=0 began=$SECONDS
  train || code=$?
  ((code == 0)) || requeue_or_end "$code" $((SECONDS - began))
  say "done"
}

main
