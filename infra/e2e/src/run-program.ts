import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@sluice/local/parts';
import { programEnvironment } from '@sluice/testing';

/** Runs a program to its end. @throws where it ends with anything but 0. */
export const run = promisify(execFile);

const { PATH: _, ...compiled } = programEnvironment();

/** The same with a program of the repository, with these settings or those of the launcher's folder. */
export const runProgram = (file: string, args: readonly string[], { env = {}, directory = '' } = {}) => {
  const settings = directory ? [`--env-file=${join(directory, 'environment')}`] : [];
  return run(process.execPath, [...settings, join(repositoryRoot, file), ...args], {
    env: { ...compiled, ...env } as NodeJS.ProcessEnv,
  });
};
