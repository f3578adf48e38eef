#!/usr/bin/env bash
# EDIT THIS FILE: it builds the app of one checkout the way your repository does.
#
#   review-synth.sh FOLDER OUT VENV
#
# FOLDER has the app's cdk.json. The assembly goes to OUT, a Python environment with `hyperpod` to VENV; neither is in
# FOLDER, where an asset could pick it up. It runs once for the base and once for the head of a pull request, without
# any credentials, and must fail when the app does.
set -euo pipefail
folder=$1 out=$2 venv=$3

cd "$folder"
python3 -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install --quiet --requirement requirements.txt
npm ci --no-audit --no-fund # the CDK CLI that package-lock.json pins

PATH="$venv/bin:$PWD/node_modules/.bin:$PATH" cdk synth --quiet --output "$out"
