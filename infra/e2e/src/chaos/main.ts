import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startChaosProxy } from './chaos-proxy.ts';
import { CommandError, commandHelp, runChaosCommand } from './commands.ts';

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
const target = URL.parse(`tcp://${positionals[0] ?? ''}`);

if (values.help) {
  console.log(help);
} else if (!target?.hostname || !target.port) {
  console.error(help);
  process.exitCode = 2;
} else {
  const proxy = await startChaosProxy({
    host: target.hostname,
    port: Number(target.port),
    listenPort: Number(values.listen),
    seed: Number(values.seed),
  });
  console.log(`127.0.0.1:${proxy.port} leads to ${positionals[0]}; "help" lists the commands`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    try {
      console.log(await runChaosCommand(line, proxy));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      console.log(error.message);
    }
  }
  await proxy.close();
}
