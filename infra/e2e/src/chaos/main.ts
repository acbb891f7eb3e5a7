import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { UsageError } from '@sluice/service-runtime/command-line';
import { startChaosProxy } from '@sluice/testing';
import { commandHelp, runChaosCommand } from './commands.ts';

const help = `Usage: node infra/e2e/src/chaos/main.ts [--listen PORT] [--seed N] HOST:PORT

A TCP proxy before HOST:PORT that disturbs what passes, as the lines say that are typed:
${commandHelp}

Ctrl-C or the end of the input ends it.`;

const { values, positionals } = parseArgs({
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
  console.log(`${new URL(proxy.url).host} leads to ${positionals[0]}; "help" lists the commands`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    try {
      console.log(await runChaosCommand(line, proxy));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      console.log(error.message);
    }
  }
}
