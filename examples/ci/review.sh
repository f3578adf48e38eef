#!/usr/bin/env bash
# Builds two checkouts and reviews what lies between them.
#
#   review.sh BASE HEAD OUT
#
# OUT gets
#   exit-code    0, 1 or 2, as `hyperpod review` has them; 2 as well when the head cannot be built
#   review.md    the review, with 0 and 1; not to be used with 2
#   review.json  the same for programs
#   error.txt    what went wrong, on its last line, with 2
#   note.md      what a reader must know before the review; mostly empty
# This script itself ends well whatever the review says: whoever posts it decides.
#
# Environment: FAIL_ON and FAIL_ON_ACCEPTED (conditions of --fail-on), ACCEPTED_BY (the second list holds when it is not
# empty), APP_DIR (of cdk.json in both checkouts), LIVE (snapshot in HEAD, or empty), HYPERPOD (the command; by default
# the one that review-synth.sh installs for HEAD).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
base=$(cd "$1" && pwd)/${APP_DIR:-.}
repository=$(cd "$2" && pwd)
head=$repository/${APP_DIR:-.}
mkdir -p "$3"
out=$(cd "$3" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hyperpod=${HYPERPOD:-$work/head.venv/bin/hyperpod}

rm -f "$out"/{exit-code,review.md,review.json,error.txt,note.md}
touch "$out/error.txt" "$out/note.md"

no_review() { # MESSAGE, for when nobody has said more
  [[ -s $out/error.txt ]] || printf '%s\n' "$1" >"$out/error.txt"
  cat "$out/error.txt" >&2
  echo 2 >"$out/exit-code"
  exit 0
}

# Two folders without an app would be "unchanged": a mistyped APP_DIR must not look like a harmless change.
[[ -f $head/cdk.json ]] || no_review "this pull request has no ${APP_DIR:-.}/cdk.json"
if ! "$here/review-synth.sh" "$head" "$work/head" "$work/head.venv"; then
  # What its own validation refused is written all the same, and the command names the reason.
  if [[ -f $work/head/manifest.json ]]; then
    "$hyperpod" review "$work/head" "$work/head" >/dev/null 2>"$out/error.txt" || true
  fi
  no_review "the app of this pull request does not synthesize: see the step 'Review' of the run"
fi

# An assembly without stacks; an empty template would be a stack that goes.
mkdir "$work/nothing"
echo '{"version": "36.0.0", "artifacts": {}}' >"$work/nothing/manifest.json"

before=$work/base
unknown=''
if [[ ! -f $base/cdk.json ]]; then
  before=$work/nothing
  # An app that this pull request has moved is no new one: what it replaces would go unseen.
  elsewhere=$(find "$1" -name node_modules -prune -o -name cdk.json -print -quit)
  if [[ -n $elsewhere ]]; then
    unknown="has no app in ${APP_DIR:-.}, but one elsewhere"
  else
    echo '**Compared with nothing:** the base branch has no app, so everything here counts as new.' >"$out/note.md"
  fi
elif ! "$here/review-synth.sh" "$base" "$work/base" "$work/base.venv"; then
  before=$work/nothing
  unknown='has an app that does not synthesize'
fi
if [[ -n $unknown ]]; then
  echo "**Compared with nothing: the base branch $unknown.** What this pull request does to what is deployed is not" \
    'known; everything counts as new.' >"$out/note.md"
fi
least=0
[[ -z $unknown || -n ${ACCEPTED_BY:-} ]] || least=1

fail_on=${FAIL_ON:-replacement,data-loss,node-loss,error}
[[ -z ${ACCEPTED_BY:-} ]] || fail_on=${FAIL_ON_ACCEPTED:-error}
compared=("$before" "$work/head" --fail-on "$fail_on")
[[ -z ${LIVE:-} ]] || compared+=(--live "$repository/$LIVE")

code=0
"$hyperpod" review "${compared[@]}" --format markdown >"$out/review.md" 2>"$out/error.txt" || code=$?
# A command that breaks ends with 1 too, but has nothing to say.
[[ $code -le 1 && -s $out/review.md ]] || no_review "hyperpod review ended with exit code $code and no review"
"$hyperpod" review "${compared[@]}" --format json >"$out/review.json" || true
cat "$out/error.txt" >&2
echo $((code > least ? code : least)) >"$out/exit-code"
