import { runProgram } from '@sluice/service-runtime/command-line';
import { help, type LedgerCommand, readArguments } from './ledger.arguments.ts';

process.stdout.on('error', () => undefined); // the callback of `write` reports it
process.exitCode = await runProgram<LedgerCommand>(process.argv.slice(2), {
  help,
  readArguments,
  async perform(command) {
    const { perform } = await import('./perform-ledger-command.ts');
    return perform(command);
  },
});
