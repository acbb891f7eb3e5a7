import { once } from 'node:events';
import { start } from 'node:repl';
import { readOptions, runCommand } from '@sluice/service-runtime/command-line';
import { startChaosProxy } from '@sluice/testing';

const help = `Usage: node infra/e2e/src/chaos/main.ts [--listen PORT] [--seed N] HOST:PORT

A TCP proxy before HOST:PORT. What you type is JavaScript, in which "proxy" disturbs what passes:

  proxy.disturb({ latencyMs: 100, jitterMs: 50 })
  proxy.disturb({ bytesPerSecond: 1000 }, 'to-client')
  proxy.disturb({ truncateAtByte: 3 }, 'to-server')
  proxy.stall()          holds what comes; one direction, where it is given
  proxy.calm()           undisturbed from now on; what was held is delivered
  proxy.cut()            resets every open connection
  proxy.refuse()         refuses new connections, until proxy.open()
  proxy.connections      how many are open

Ctrl-D or the end of the input ends it.`;

await runCommand('--help', async () => {
  const { values, positionals } = readOptions({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      listen: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
    },
  });
  const server = URL.parse(`tcp://${positionals[0] ?? ''}`);

  if (values.help) {
    console.log(help);
  } else if (!server?.hostname || !server.port) {
    console.error(help);
    process.exitCode = 2;
  } else {
    await using stack = new AsyncDisposableStack();
    const options = { port: Number(values.listen), seed: Number(values.seed) };
    const proxy = await startChaosProxy(server.href, stack, options);
    console.log(`${new URL(proxy.url).host} leads to ${positionals[0]}; --help lists what "proxy" can do`);
    const session = start('> ');
    Object.assign(session.context, { proxy });
    await once(session, 'exit');
  }
});
