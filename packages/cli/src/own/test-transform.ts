import { type Command, type Input, textOf } from '../command.ts';
import { exitCodes, UsageError } from '../failure.ts';
import { escapeText, toSafeJson } from '../output/escape.ts';
import { isForPeople, printAnswer, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import { parseJson, readTextFile } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

const kinds = ['request', 'response'] as const;

export const testTransform: Command = {
  words: ['proxies', 'test'],
  summary: 'Run the transform in FILE in the sandbox, once (proxy:update)',
  arguments: ['FILE'],
  options: {
    args: { type: 'string', value: 'FILE', description: 'JSON file with the value of req.args; default: {}' },
    configuration: {
      type: 'string',
      value: 'FILE',
      description: 'JSON file with names and values of req.configuration',
    },
    kind: { type: 'string', value: 'KIND', description: 'request (default) or response' },
  },
  notes:
    'The exit code is 1 if the transform does not compile or throws. A stand-in replaces req.svc: it stores tokens only during the run, and has no rules, masks or search.',
  async run(input, terminal) {
    const kind = kinds.find((one) => one === (textOf(input, 'kind') ?? 'request'));
    if (!kind) throw new UsageError(`--kind must be one of ${kinds.join(', ')}`);
    const [file = ''] = input.positionals;
    const body = {
      code: await readTextFile(file),
      kind,
      args: await readObject(input, 'args'),
      configuration: (await readObject(input, 'configuration')) as Record<string, string>,
    };
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    return printTrial(await sluice.proxies.testTransform(body, { signal: terminal.signal }), input, terminal);
  },
};

/** @returns the exit code: refused if the code has failed. */
export async function printTrial(trial: Trial, input: Input, terminal: Terminal): Promise<number> {
  const json = input.values.json === true;
  if (!isForPeople(terminal, json)) await printAnswer(terminal, trial, true);
  else await write(terminal.stdout, `${report(trial)}\n`);
  return trial.error ? exitCodes.refused : exitCodes.done;
}

export async function readObject(input: Input, option: string): Promise<Record<string, unknown>> {
  const file = textOf(input, option);
  if (file === undefined) return {};
  const value = parseJson(await readTextFile(file), file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(`${file} must contain a JSON object`);
}

interface Trial {
  result?: object;
  error?: { title: string; detail?: string; line?: number; column?: number };
  console?: { level: string; text: string }[];
  client?: { calls: number };
}

function report({ result, error, console: printed = [], client }: Trial): string {
  const place =
    error?.line === undefined ? '' : ` (line ${error.line}${error.column ? `, column ${error.column}` : ''})`;
  const lines = printed.map(({ level, text }) => `console.${level}: ${escapeText(text)}`);
  if (error) lines.push(escapeText(`${error.title}${error.detail ? `: ${error.detail}` : ''}${place}`));
  else lines.push(toSafeJson(result ?? {}, 2));
  if (client) {
    lines.push(
      `req.svc: a stand-in answered ${client.calls} calls; it stores tokens only during this run, and has no rules, masks or search`,
    );
  }
  return lines.join('\n');
}
