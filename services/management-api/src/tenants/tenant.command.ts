import { runProgram } from '@sluice/service-runtime/command-line';
import { help, readArguments, type TenantCommand } from './tenant.arguments.ts';

process.exitCode = await runProgram<TenantCommand>(process.argv.slice(2), {
  help,
  readArguments,
  async perform(command) {
    const { perform } = await import('./perform-tenant-command.ts');
    console.log(await perform(command, process.env));
    return 0;
  },
});
