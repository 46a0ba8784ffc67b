#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`outboxify needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and run it again.`);
  process.exit(2);
}
const { main } = await import('../dist/src/cli/main.js');
await main(process.argv);
