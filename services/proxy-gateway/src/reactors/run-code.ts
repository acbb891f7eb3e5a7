import { tagOf } from '@sluice/cache-coherence';
import { actorTypeOf, type Caller } from '@sluice/credentials';
import { reactorConfiguration } from '@sluice/database';
import type { TransformUsage } from '@sluice/sandbox';
import type { Context } from '../context.ts';
import { printLines } from '../transforms/console/log-console.ts';
import { redactConsole } from '../transforms/console/redact.ts';
import { redactThrown } from '../transforms/console/redact-thrown.ts';
import { ConsoleSecrets } from '../transforms/console/secrets.ts';
import { readConfiguration, type StoredConfiguration } from '../transforms/read-configuration.ts';
import { type Hosting, reading, transformHost } from '../transforms/transform-host.ts';
import type { ReactorDefinition } from './definition.ts';
import { type Fetches, type Fetching, fetchesOf } from './fetch.ts';
import { type FindingReactors, findReactor } from './find-reactor.ts';
import { type Looking, lookAgain, lookBeforeCode } from './look.ts';
import type { ReactorOutcome } from './reactor-run.ts';
import type { Running } from './running.ts';

export type RunningCode = FindingReactors &
  Looking &
  Hosting &
  Fetching &
  Pick<Context, 'reactorPool' | 'logsConsole' | 'log'>;

export async function runCode(running: Running, argsJson: string, context: RunningCode): Promise<ReactorOutcome> {
  const { run, reactor, tenantId } = running;
  const application = reactor.applicationId ? await context.callers.byId(tenantId, reactor.applicationId) : undefined;
  running.application = application;
  running.judgement.endsAt(application?.expiresAt);
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
      look: () => lookBeforeCode(running, context),
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
    const thrown = await context.workPieces.run(tenantId, redacted);
    await lookAgain(running, context); // because the code's error becomes the response
    throw thrown;
  } finally {
    await showConsole(running, usage, context);
    await recordCalls(running, fetches, context);
  }
}

function fetchingOf(running: Running, context: RunningCode): Parameters<typeof fetchesOf>[0] {
  const { run, reactor, tenantId } = running;
  return {
    tenantId,
    reactorId: reactor.id,
    callerId: run.caller.id,
    cdnLoop: run.cdnLoop,
    beforeEffect: () => running.beforeEffect(),
    look: () => lookAgain(running, context),
  };
}

function hostOf(running: Running, application: Caller, context: RunningCode) {
  const { reactor } = running;
  const host = transformHost(
    running,
    {
      through: { entityType: 'reactor', entityId: reactor.id },
      applicationId: application.id,
      stillHolds: async (tx) => (await findReactor(reactor, context, tx))?.applicationId === application.id,
    },
    context,
  );
  return async (operation: string, payloadJson: string): Promise<string> => {
    await lookAgain(running, context);
    if (!reading.has(operation)) {
      await running.beforeEffect();
      return host(operation, payloadJson);
    }
    const answer = await host(operation, payloadJson);
    await lookAgain(running, context);
    return answer;
  };
}

/** The secrets to redact from what the code printed. Undefined if there are too many to search for. */
function secretsOf({ secrets }: Running, usage: TransformUsage | undefined): readonly string[] | undefined {
  if (secrets.isTooMuch) return undefined;
  const all = new ConsoleSecrets();
  all.add(Object.values(JSON.parse(usage?.configurationJson ?? '{}')));
  all.add(secrets.texts() ?? []);
  return all.texts();
}

async function showConsole(running: Running, usage: TransformUsage | undefined, context: RunningCode): Promise<void> {
  const { run, reactor, tenantId, traceId } = running;
  if (!usage || usage.console.length === 0 || (!context.logsConsole && !run.onConsole)) return;
  const lines = await context.workPieces.run(tenantId, redactConsole(usage.console, secretsOf(running, usage)));
  run.onConsole?.(lines);
  if (context.logsConsole) printLines(lines, { tenantId, reactorId: reactor.id, traceId }, context.log);
}

async function recordCalls(
  { run, reactor, tenantId, traceId }: Running,
  { calls, hosts }: Fetches,
  { vault }: Pick<Context, 'vault'>,
) {
  if (calls === 0) return;
  const { caller } = run;
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
