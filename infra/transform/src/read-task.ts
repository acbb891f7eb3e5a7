import { readFile } from 'node:fs/promises';
import type { TrialTask } from '@sluice/sandbox';
import { UsageError } from '@sluice/service-runtime/command-line';
import type { TestOptions } from './command-line.ts';

/** The files of a trial, read now. @throws {UsageError} */
export async function readTask({ file, args, configuration, kind }: TestOptions): Promise<Omit<TrialTask, 'host'>> {
  const code = await read(file);
  return {
    tenantId: 'local',
    kind,
    code,
    args: args === undefined ? {} : await readObject(args),
    configuration: configuration === undefined ? {} : await readConfiguration(configuration),
  };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  const text = await read(path);
  const value = parse(path, text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(`${path} must contain a JSON object`);
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function readConfiguration(path: string): Promise<Record<string, string>> {
  const values = await readObject(path);
  const wrong = Object.keys(values).filter((name) => typeof values[name] !== 'string');
  if (wrong.length > 0) throw new UsageError(`${path}: ${wrong.join(', ')} must be text`);
  return values as Record<string, string>;
}
