import { runProgram } from '@sluice/service-runtime/command-line';
import { type ConsoleCommand, help, readArguments } from './console.arguments.ts';

process.exitCode = await runProgram<ConsoleCommand>(process.argv.slice(2), {
  help,
  readArguments,
  async perform(command) {
    const { makeLink } = await import('./perform-console-command.ts');
    console.log(await makeLink(command, process.env));
    return 0;
  },
});
