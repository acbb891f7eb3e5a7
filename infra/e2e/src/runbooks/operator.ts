import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Stack } from '@sluice/local';
import { repositoryRoot, stopChild } from '@sluice/local/parts';
import { serveHttp } from '@sluice/testing';
import { killProcess } from '../cluster/stores.ts';

const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker', 'ingress'];
const settingsFile = join(repositoryRoot, 'infra/configuration/settings.json');

/**
 * What an operator has beside the repository.
 * @param environment what the stack was started with; deployments change it.
 * @returns `functions` for bash: `deploy NAME=value …` sets these and restarts the services that take them, or all where
 * none is named; `lose_primary` ends Postgres as `kill -9` does. `restore` sets what was set in the beginning.
 */
export async function startOperator(
  { stack, environment }: { stack: Stack; environment: Record<string, string> },
  closing: AsyncDisposableStack,
) {
  const takers: Record<string, string[]> = JSON.parse(await readFile(settingsFile, 'utf8'));
  const original = { ...environment };

  async function deploy(settings: readonly (readonly [name: string, value: string])[]): Promise<void> {
    for (const [name, value] of settings) {
      if (value === '') delete environment[name];
      else environment[name] = value;
    }
    const restarted = settings.length === 0 ? services : settings.flatMap(([name]) => takers[name] ?? services);
    // Each has one process, so even restarts in turn would interrupt service.
    await Promise.all(
      [...new Set(restarted)].map(async (name) => {
        const child = stack.processes.get(name);
        if (child) await stopChild(child, 'SIGTERM');
        await stack.restart(name);
      }),
    );
  }

  const url = await serveHttp(closing, async (request, response) => {
    const lines = (await text(request)).split('\n').filter(Boolean);
    const settings = lines.map((line): [string, string] => {
      const [name = ''] = line.split('=', 1);
      return [name, line.slice(name.length + 1)];
    });
    try {
      await (request.url === '/deploy' ? deploy(settings) : killProcess(stack.processes, 'postgres'));
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });

  return {
    functions: [
      `deploy() { printf '%s\\n' "$@" | curl -sS --fail-with-body --data-binary @- ${url}/deploy; }`,
      `lose_primary() { curl -sS --fail-with-body -X POST ${url}/lose-primary; }`,
    ].join('\n'),
    async restore(): Promise<void> {
      const names = [...new Set([...Object.keys(original), ...Object.keys(environment)])];
      const changed = names.filter((name) => environment[name] !== original[name]);
      if (changed.length > 0) await deploy(changed.map((name) => [name, original[name] ?? '']));
    },
  };
}
