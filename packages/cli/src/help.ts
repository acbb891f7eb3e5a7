import { type Command, commonOptions, type Option } from './command.ts';

const exitCodesText =
  'Exit codes: 0 done, 1 refused, 2 wrong arguments, 3 service unreachable or unavailable, 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.';

export function overview(commands: readonly Command[]): string {
  const alone = commands.filter(({ words }) => words.length === 1);
  const groups = [...new Set(commands.filter(({ words }) => words.length > 1).map(({ words }) => words[0] ?? ''))];
  const verbs = (group: string) =>
    commands.filter(({ words }) => words[0] === group && words.length > 1).map(({ words }) => words.slice(1).join(' '));
  const rows = [
    ...alone.map(({ words, summary }) => [words.join(' '), summary] as const),
    ...groups.map((group) => [group, verbs(group).join(', ')] as const),
  ];
  return [
    'Usage: sluice <command> [options]',
    '',
    ...columns(rows),
    '',
    'For details: sluice <command> --help. Results on a terminal are tables. Without a terminal, or with --json, results are',
    'JSON.',
    'URL and key come from the first of these that is set: the profile of --profile; the variables SLUICE_URL and',
    'SLUICE_API_KEY (and SLUICE_HEADER_PREFIX); the profile of SLUICE_PROFILE; the profile "default". "sluice login" creates a',
    'profile.',
    exitCodesText,
  ].join('\n');
}

export function groupHelp(commands: readonly Command[]): string {
  return ['Commands:', ...columns(commands.map((command) => [usageOf(command), command.summary]))].join('\n');
}

export function commandHelp(command: Command): string {
  const options = Object.entries<Option>({ ...command.options, ...commonOptions });
  return [
    `Usage: ${usageOf(command)} [options]${command.behindDashes === undefined ? '' : ` -- ${command.behindDashes}`}`,
    '',
    command.summary,
    '',
    'Options:',
    ...columns(options.map(([name, option]) => [optionUsage(name, option), option.description])),
    ...(command.notes ? ['', command.notes] : []),
  ].join('\n');
}

function usageOf({ words, arguments: names }: Command): string {
  return ['sluice', ...words, ...names].join(' ');
}

function optionUsage(name: string, { short, value }: Option): string {
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(40, Math.max(...rows.map(([first]) => first.length)));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
}
