import { spawnSync } from 'node:child_process';
import type { Config } from '@jest/types';
import { isFullRun, shares } from '../slow.ts';

/** Which of the slow tests run ("all", or a number below `shares`), and why. */
export interface Share {
  share: string;
  why: string;
}

/** By the number of commits, so that the next one runs the next quarter. All, where Git does not know that number. */
export function shareOfSlowTests({ rootDir, testNamePattern, testPathPatterns }: Config.GlobalConfig): Share {
  if (isFullRun) return { share: 'all', why: 'all, as in every full run' };
  if (testPathPatterns.isSet() || testNamePattern) return { share: 'all', why: 'all, because tests were named' };
  const commits = countCommits(rootDir);
  if (commits === undefined) return { share: 'all', why: 'all, because the number of commits is unknown' };
  const share = commits % shares;
  return { share: `${share}`, why: `quarter ${share + 1} of ${shares}, by commit ${commits}; test:full runs all` };
}

/** Undefined without Git, for sources without a repository, and where the history is not whole. */
function countCommits(cwd: string): number | undefined {
  const git = (...args: string[]) => spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (git('rev-parse', '--is-shallow-repository').stdout?.trim() !== 'false') return undefined;
  return Number(git('rev-list', '--count', 'HEAD').stdout);
}
