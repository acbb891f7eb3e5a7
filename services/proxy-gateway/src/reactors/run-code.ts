import { tagOf } from '@sluice/cache-coherence';
import { actorTypeOf, type Caller } from '@sluice/credentials';
import { reactorConfiguration } from '@sluice/database';
import type { TransformUsage } from '@sluice/sandbox';
import { type Looking, look, lookBeforeCode } from '../acting/look.ts';
import type { Context } from '../context.ts';
import { printLines } from '../transforms/console/log-console.ts';
import { redactConsole } from '../transforms/console/redact.ts';
import { redactThrown } from '../transforms/console/redact-thrown.ts';
import { ConsoleSecrets } from '../transforms/console/secrets.ts';
import { readConfiguration, type StoredConfiguration } from '../transforms/read-configuration.ts';
import { type Hosting, reading, transformHost } from '../transforms/transform-host.ts';
import type { ReactorDefinition } from './definition.ts';
import { type Fetches, type Fetching, fetchesOf } from './fetch.ts';
import type { ReactorOutcome } from './reactor-run.ts';
import type { Running } from './running.ts';

export type RunningCode = Looking &
  Hosting &
  Fetching &
  Pick<Context, 'reactors' | 'reactorPool' | 'logsConsole' | 'log'>;

export async function runCode(running: Running, argsJson: string, context: RunningCode): Promise<ReactorOutcome> {
  const { run, acting } = running;
  const { owner: reactor, tenantId } = acting;
  const application = reactor.applicationId ? await context.callers.byId(tenantId, reactor.applicationId) : undefined;
  acting.application = application;
  acting.judgement.endsAt(application?.expiresAt);
  const fetches = fetchesOf(fetchingOf(running, context), context);
  let usage: TransformUsage | undefined;
  try {
    const { bodyJson = '{}', tokenizeJson } = await context.reactorPool.run({
      tenantId,
      ownerId: reactor.id,
      kind: 'reactor',
      version: reactor,
      code: reactor.code,
      argsJson,
      configuration: () => readConfiguration(storedConfiguration(reactor, context), context),
      look: () => lookBeforeCode(acting, context),
      wallMs: run.wallMs,
      signal: run.signal,
      fetch: fetches.fetch,
      ...(application && { host: hostOf(running, application, context) }),
      onEnd: (used) => {
        usage = used;
      },
    });
    return { resultJson: bodyJson, tokenize: tokenizeJson === undefined ? undefined : JSON.parse(tokenizeJson) };
  } catch (error) {
    const redacted = redactThrown(error, () => secretsOf(running, usage));
    throw await context.workPieces.run(tenantId, redacted);
  } finally {
    await showConsole(running, usage, context);
    await recordCalls(running, fetches, context);
  }
}

function fetchingOf(running: Running, context: RunningCode): Parameters<typeof fetchesOf>[0] {
  const { run, acting } = running;
  return {
    tenantId: acting.tenantId,
    reactorId: acting.owner.id,
    callerId: run.caller.id,
    cdnLoop: run.cdnLoop,
    beforeEffect: () => running.beforeEffect(),
    look: async () => look(acting, context),
  };
}

function hostOf(running: Running, application: Caller, context: RunningCode) {
  const { acting } = running;
  const through = { entityType: 'reactor', entityId: acting.owner.id } as const;
  const host = transformHost(acting, { through, applicationId: application.id }, context);
  return async (operation: string, payloadJson: string): Promise<string> => {
    await look(acting, context);
    if (!reading.has(operation)) {
      await running.beforeEffect();
      return host(operation, payloadJson);
    }
    const answer = await host(operation, payloadJson);
    await look(acting, context);
    return answer;
  };
}

/** The secrets to redact from what the code printed. Undefined if there are too many to search for. */
function secretsOf({ acting }: Running, usage: TransformUsage | undefined): readonly string[] | undefined {
  const { secrets } = acting;
  if (secrets?.isTooMuch) return undefined;
  const all = new ConsoleSecrets();
  all.add(Object.values(JSON.parse(usage?.configurationJson ?? '{}')));
  all.add(secrets?.texts() ?? []);
  return all.texts();
}

async function showConsole(running: Running, usage: TransformUsage | undefined, context: RunningCode): Promise<void> {
  const { run, acting } = running;
  const { owner: reactor, tenantId, traceId } = acting;
  if (!usage || usage.console.length === 0 || (!context.logsConsole && !run.onConsole)) return;
  const lines = await context.workPieces.run(tenantId, redactConsole(usage.console, secretsOf(running, usage)));
  run.onConsole?.(lines);
  if (context.logsConsole) printLines(lines, { tenantId, reactorId: reactor.id, traceId }, context.log);
}

async function recordCalls({ run, acting }: Running, { calls, hosts }: Fetches, { vault }: Pick<Context, 'vault'>) {
  if (calls === 0) return;
  const { caller } = run;
  const { owner: reactor, tenantId, traceId } = acting;
  await vault.disclosures.record({
    tenantId,
    actorId: caller.id,
    actorType: actorTypeOf(caller),
    traceId,
    operation: 'use',
    entityType: 'reactor',
    entityId: reactor.id,
    detail: { token_ids: [], destination_hosts: [...hosts], calls, application_id: caller.applicationId ?? caller.id },
  });
}

function storedConfiguration(
  { tenantId, id: recordId, configurationCiphertext: ciphertext }: ReactorDefinition,
  { reactors }: Pick<Context, 'reactors'>,
): StoredConfiguration {
  const drop = () => reactors.drop([tagOf.reactor(recordId)]);
  return { place: { tenantId, recordId, ...reactorConfiguration }, ciphertext, drop };
}
