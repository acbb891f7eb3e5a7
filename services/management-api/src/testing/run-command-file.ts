import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { programEnvironment } from '@sluice/testing';

interface Ran {
  code: number;
  output: string;
  errors: string;
}

/** Runs it as npm does, in a process of its own. @param file from `src`. */
export function runCommandFile(file: string, args: string[], settings: Record<string, string>): Promise<Ran> {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  const env = { ...programEnvironment(), ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], { env }, (error, output, errors) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output, errors });
    });
  });
}
