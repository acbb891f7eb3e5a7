#!/bin/sh
# Usage, in the root of the repository: install.sh <folder of a workspace> <new folder>
# Installs what the workspace needs in production, and moves that with the workspaces that it is made of to the new
# folder, in which the workspace can run. What is left behind is of no more use.
set -eu
workspace=$1
target=$2

npm ci --omit=dev --workspace "$workspace"

# npm has linked the workspace and those that it depends on; the links stay, for Node compiles nothing in node_modules.
for link in node_modules/@sluice/*; do
  folder=$(readlink "$link")
  folder=${folder#../../}
  mkdir -p "$target/$(dirname "$folder")"
  mv "$folder" "$target/$folder"
done
mv node_modules "$target"
