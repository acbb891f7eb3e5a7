import { readOptions, UsageError } from '@sluice/service-runtime/command-line';

/** The parsed command line. */
export type CommandLine =
  | { command: 'help' }
  | { command: 'hostile' }
  | { command: 'mixed' }
  | { command: 'types'; folder: string; isForReactors: boolean }
  | ({ command: 'test'; watch: boolean } & TestOptions);

export interface TestOptions {
  /** Paths as typed. */
  file: string;
  args: string | undefined;
  configuration: string | undefined;
  kind: 'request' | 'response';
}

export const help = `Usage: npm run transform -- test FILE [options]
       npm run transform -- types FOLDER [--kind reactor]
       npm run transform -- hostile
       npm run transform -- mixed

test     runs the transform in FILE with the engine and the limits of the gateway: no server and no
         destination. A stand-in answers req.svc: it keeps tokens for the run, and has no rules, masks or search. Leaves
         with 1 when it fails.
types    writes the declarations of req into FOLDER, with a jsconfig.json, so that editors check the files there. With
         --kind reactor those of reactors, which also have fetch; keep them in a folder of their own.
hostile  runs programs that attack the sandbox, and prints what stopped each, and when.
mixed    runs good transforms alone and with 5 % hostile programs among them, three minutes in all, and prints what the
         good ones lost and how long they took.

Options of test:
  --args FILE            JSON: what req.args is. { "body": …, "headers": {…} }, of a request also method, path, query;
                         what is left out is empty
  --configuration FILE   JSON: names and values of req.configuration
  --kind KIND            request (default) or response
  --watch                runs it again when one of the files changes, until Ctrl-C
  --help                 this text

The prefix of the error module (svc-errors) is that of the setting HEADER_PREFIX.`;

/** @throws {UsageError} */
export function readCommandLine(argv: string[]): CommandLine {
  const { values, positionals } = parse(argv);
  const [command, file, ...rest] = positionals;
  if (values.help || command === undefined) return { command: 'help' };
  if (rest.length > 0) throw new UsageError(`What is ${rest.join(' ')}? One file at a time`);
  if ((command === 'hostile' || command === 'mixed') && file === undefined) return { command };
  if (command !== 'test' && command !== 'types') throw new UsageError(`There is no command ${positionals.join(' ')}`);
  if (file === undefined) throw new UsageError(`${command} needs a ${command === 'test' ? 'file' : 'folder'}`);
  const { args, configuration, kind, watch } = values;
  if (command === 'types') return { command, folder: file, isForReactors: kind === 'reactor' };
  if (kind !== 'request' && kind !== 'response') throw new UsageError(`--kind is request or response, not "${kind}"`);
  return { command, file, args, configuration, kind, watch };
}

function parse(args: string[]) {
  return readOptions({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      watch: { type: 'boolean', short: 'w', default: false },
      args: { type: 'string' },
      configuration: { type: 'string' },
      kind: { type: 'string', default: 'request' },
    },
  });
}
