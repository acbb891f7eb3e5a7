import type { CompileError, TransformTrial, TrialError } from '@sluice/sandbox';

interface Source {
  /** As typed. */
  file: string;
  code: string;
}

/** The result of a trial, for a terminal. */
export function reportTrial(source: Source, trial: TransformTrial, clientCalls: number): string {
  const { result, error, console: printed, durationMs, cpuMs } = trial;
  const cpu = cpuMs === undefined ? 'its thread had to be ended' : `${cpuMs.toFixed(2)} ms of CPU time`;
  const blocks = [
    ...(printed.length > 0
      ? [
          titled(
            'console',
            printed.map(({ level, text }) => `${level.padEnd(5)}  ${text}`),
          ),
        ]
      : []),
    ...(error ? [reportError(source, error)] : []),
    ...Object.entries(result ?? {}).map(([member, value]) => titled(member, [json(value)])),
    ...(result && Object.keys(result).length === 0
      ? ['neither body nor headers returned: both stay as they came']
      : []),
    ...(clientCalls > 0 ? [standIn(clientCalls)] : []),
    `${durationMs.toFixed(2)} ms, ${cpu}`,
  ];
  return blocks.join('\n\n');
}

const standIn = (calls: number) =>
  `req.svc: a stand-in answered ${calls === 1 ? 'one call' : `${calls} calls`}; it keeps tokens for this run only, and has no rules, masks or search`;

/** Why the code does not compile. */
export function reportCompileError(source: Source, { message, line, column }: CompileError): string {
  return [message, ...frame(source, line, column)].join('\n');
}

function reportError(source: Source, { status, title, detail, line, column, ...more }: TrialError): string {
  const lines = [`${status} ${title}${detail === undefined ? '' : `: ${detail}`}`];
  if (line !== undefined) lines.push(...frame(source, line, column ?? 1));
  for (const [member, value] of Object.entries(more)) lines.push(`${member} ${json(value)}`);
  return lines.join('\n');
}

/** The line in its place, as compilers show it. */
function frame({ file, code }: Source, line: number, column: number): string[] {
  const lines = code.split('\n');
  const width = String(line).length;
  const shown = [line - 1, line].flatMap((number) => {
    const text = lines[number - 1];
    return text === undefined ? [] : [`  ${String(number).padStart(width)} | ${text.slice(0, 200)}`];
  });
  return [`${file}:${line}:${column}`, ...shown, `  ${' '.repeat(width)} | ${' '.repeat(Math.min(column, 200) - 1)}^`];
}

const titled = (title: string, lines: string[]) => [title, ...lines.map(indented)].join('\n');
const indented = (text: string) => `  ${text.replaceAll('\n', '\n  ')}`;
const json = (value: unknown) => JSON.stringify(value, undefined, 2) ?? 'undefined';
