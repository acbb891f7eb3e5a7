import { readOptions, UsageError } from '@sluice/service-runtime/command-line';
import type { Check } from './checks.ts';

export interface CommandLine {
  isHelp: boolean;
  isQuick: boolean;
  /** Those that were named, or all. */
  chosen: readonly Check[];
}

/** @throws {UsageError} */
export function readCommandLine(args: string[], checks: readonly Check[]): CommandLine {
  const { help, quick, only } = parse(args);
  const unknown = only.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) throw new UsageError(`There is no check ${unknown.join(', ')}`);
  return {
    isHelp: help,
    isQuick: quick,
    chosen: checks.filter(({ name }) => only.length === 0 || only.includes(name)),
  };
}

function parse(args: string[]) {
  return readOptions({
    args,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  }).values;
}

export function help(checks: readonly Check[]): string {
  const list = checks.map(({ name, what, mustHold }) => {
    return `  ${name.padEnd(12)} ${what}${mustHold ? '' : '; must be violated'}`;
  });
  return `Usage: npm run model [-- options]

Checks a model of the protocol that keeps caches coherent: every order of steps of two holders, two writers, a network
that loses and delays, crashes and pauses. Shows a counter-example for each part that is taken away. Takes about two
minutes and half a gigabyte of memory; needs a C compiler, and spin, which it downloads on Debian and Ubuntu.

Options:
  --quick         the whole protocol with a coarser clock, in about half the time
  --only NAME     this check only; may be given several times
  --help          this text

Checks:
${list.join('\n')}`;
}
