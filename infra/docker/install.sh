#!/bin/sh
# Usage, in the root of the repository: install.sh <folder of a workspace> <new folder>
# Installs what the workspace needs in production, and moves that with the workspaces that it is made of to the new
# folder, in which the workspace can run. What is left behind is of no more use.
set -eu
workspace=$1
target=$2

# The console is built with what is not needed in production, before that is left out.
if [ "$workspace" = services/management-api ]; then
  npm ci --ignore-scripts --workspace packages/console
  npm run build:console
  rm -rf node_modules
fi

npm ci --omit=dev --workspace "$workspace"

# npm has linked the workspace and those that it depends on; the links stay, for Node compiles nothing in node_modules.
for link in node_modules/@sluice/*; do
  folder=$(readlink "$link")
  folder=${folder#../../}
  mkdir -p "$target/$(dirname "$folder")"
  mv "$folder" "$target/$folder"
done
mv node_modules "$target"

# The hosted fields are files that the vault serves; nothing of their package runs there.
if [ "$workspace" = services/token-vault ]; then
  mkdir -p "$target/packages/elements"
  mv packages/elements/released "$target/packages/elements"
fi
