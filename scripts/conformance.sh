#!/usr/bin/env bash
# Runs the official MCP conformance suite against the built program, and against a fixture server of this
# project's own mcp/ layer. The suite and the Node that it needs go into a cache folder, not into node_modules.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=0.2.0-alpha.12
node=24
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sagyo-conformance
installed=$cache/$suite-node$node

if [ ! -e "$installed/.complete" ]; then
  mkdir -p "$installed"
  echo '{"private":true,"allowScripts":{"node":true}}' >"$installed/package.json"
  npm install --no-save --no-audit --no-fund --loglevel=error --prefix "$installed" \
    "@modelcontextprotocol/conformance@$suite" "node@$node"
  touch "$installed/.complete"
fi

out=node_modules/.cache/conformance/dist
npx rolldown -c --dir "$out" >/dev/null

CONFORMANCE_SUITE=$installed/node_modules/@modelcontextprotocol/conformance/dist/index.js \
  SAGYO_NODE=$(command -v node) SAGYO_PROGRAM=$out/main.js \
  "$installed/node_modules/node/bin/node" --disable-warning=ExperimentalWarning test/conformance/run.ts
