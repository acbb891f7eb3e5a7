import { text } from 'node:stream/consumers';
import type { Stack } from '@sluice/local';
import { stopChild } from '@sluice/local/parts';
import { serveHttp } from '@sluice/testing';
import { killProcess } from '../cluster/stores.ts';

const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker', 'ingress'];

/**
 * What an operator has beside the repository, as functions for bash: `deploy NAME=value …` gives every service settings and
 * restarts it; `lose_primary` ends Postgres as `kill -9` does.
 * @param environment what the stack was started with; deployments change it.
 */
export async function startOperator(
  { stack, environment }: { stack: Stack; environment: Record<string, string> },
  closing: AsyncDisposableStack,
): Promise<string> {
  async function deploy(settings: string[]): Promise<void> {
    for (const setting of settings) {
      const [name = ''] = setting.split('=', 1);
      const value = setting.slice(name.length + 1);
      if (value === '') delete environment[name];
      else environment[name] = value;
    }
    // Each is there once, so that by turns nothing would be served in between either.
    await Promise.all(
      services.map(async (name) => {
        const child = stack.processes.get(name);
        if (child) await stopChild(child, 'SIGTERM');
        await stack.restart(name);
      }),
    );
  }
  const url = await serveHttp(closing, async (request, response) => {
    const lines = (await text(request)).split('\n').filter(Boolean);
    try {
      await (request.url === '/deploy' ? deploy(lines) : killProcess(stack.processes, 'postgres'));
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  return [
    `deploy() { printf '%s\\n' "$@" | curl -sS --fail-with-body --data-binary @- ${url}/deploy; }`,
    `lose_primary() { curl -sS --fail-with-body -X POST ${url}/lose-primary; }`,
  ].join('\n');
}
