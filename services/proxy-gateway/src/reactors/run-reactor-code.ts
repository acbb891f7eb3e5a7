import { tagOf } from '@sluice/cache-coherence';
import { actorTypeOf, type Caller } from '@sluice/credentials';
import { reactorConfiguration } from '@sluice/database';
import { type ConsoleLine, runCode } from '@sluice/sandbox';
import { type Looking, look, lookBeforeCode } from '../acting/look.ts';
import { clientHost, type Hosting, reading } from '../code/client-host.ts';
import { printLines } from '../code/console/print-lines.ts';
import { readConfiguration, type StoredConfiguration } from '../code/read-configuration.ts';
import { redactionOf } from '../code/redaction.ts';
import type { Context } from '../context.ts';
import { notePrinted } from '../observation/note-for-feed.ts';
import type { ReactorDefinition } from './definition.ts';
import { type Fetches, type Fetching, fetchesOf } from './fetch.ts';
import type { ReactorOutcome } from './reactor-run.ts';
import type { Running } from './running.ts';

export type RunningCode = Looking &
  Hosting &
  Fetching &
  Pick<Context, 'reactors' | 'reactorPool' | 'logsConsole' | 'log'>;

export async function runReactorCode(
  running: Running,
  argsJson: string,
  context: RunningCode,
): Promise<ReactorOutcome> {
  const { run, acting } = running;
  const { owner: reactor, tenantId } = acting;
  const application = reactor.applicationId ? await context.callers.byId(tenantId, reactor.applicationId) : undefined;
  acting.application = application;
  acting.judgement.endsAt(application?.expiresAt);
  const fetches = fetchesOf(fetchingOf(running, context), context);
  try {
    const { bodyJson = '{}', tokenizeJson } = await runCode(context.reactorPool, {
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
      redaction: redactionOf(acting, context),
      onConsole: context.logsConsole || run.onConsole ? (lines) => showConsole(running, lines, context) : undefined,
    });
    return { resultJson: bodyJson, tokenize: tokenizeJson === undefined ? undefined : JSON.parse(tokenizeJson) };
  } finally {
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
    noCallerWaits: run.noCallerWaits,
    beforeEffect: () => running.beforeEffect(),
    look: async () => look(acting, context),
  };
}

function hostOf(running: Running, application: Caller, context: RunningCode) {
  const { acting } = running;
  const through = { entityType: 'reactor', entityId: acting.owner.id } as const;
  const host = clientHost(acting, { through, applicationId: application.id }, context);
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

function showConsole({ run, acting }: Running, lines: readonly ConsoleLine[], { logsConsole, log }: RunningCode): void {
  const { owner, tenantId, traceId } = acting;
  run.onConsole?.(lines);
  if (!logsConsole) return;
  notePrinted(run.notes, lines);
  printLines(lines, { tenantId, reactorId: owner.id, traceId }, log);
}

async function recordCalls(
  { run, acting }: Running,
  { calls, hosts }: Fetches,
  { vault }: Pick<Context, 'vault'>,
): Promise<void> {
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
