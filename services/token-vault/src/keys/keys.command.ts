import { runProgram } from '@sluice/service-runtime/command-line';
import { help, type KeysCommand, readArguments } from './keys.arguments.ts';

process.exitCode = await runProgram<KeysCommand>(process.argv.slice(2), {
  help,
  readArguments,
  async perform(command) {
    const { runWithStores } = await import('./run-with-stores.ts');
    return runWithStores(command);
  },
});
