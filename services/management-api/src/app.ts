import type { IncomingMessage, RequestListener } from 'node:http';
import type { BodyBytes } from '@sluice/body-bytes';
import { authenticate, readCallers, signInAuthentication } from '@sluice/credentials';
import { type HostOf, serveByHost } from '@sluice/hosts';
import {
  type ApiOptions,
  expressApi,
  forFrames,
  operationName,
  type PublicAnswer,
  readSignInCookie,
  type Streams,
  singleHeader,
  underCookieApi,
} from '@sluice/http-api';
import { idempotencyStore } from '@sluice/http-api/idempotency';
import type { RequestObserver } from '@sluice/service-runtime';
import { applicationOperations } from './applications/application.routes.ts';
import { getApplicationUses } from './applications/application-uses.routes.ts';
import { explainAccess } from './applications/explain.routes.ts';
import { applicationKeyOperations } from './applications/keys/application-key.routes.ts';
import { applicationTemplateOperations } from './applications/templates/application-template.routes.ts';
import { assetsPath, readConsole } from './console/console-files.ts';
import type { Context } from './context.ts';
import { readDocumentation } from './documentation/documentation.ts';
import { listInvocations } from './invocations/invocation.routes.ts';
import { ledgerOperations } from './logs/ledger.routes.ts';
import { logOperations } from './logs/log.routes.ts';
import { logExportOperations } from './logs/log-export.routes.ts';
import { acceptInvitation } from './people/invitations/accept-invitation.ts';
import { invitationOperations } from './people/invitations/invitation.routes.ts';
import { issuerOperations } from './people/issuers/finish.routes.ts';
import { issuerPages } from './people/issuers/issuer.pages.ts';
import { memberOperations } from './people/members/member.routes.ts';
import { lookOperations } from './people/pages/look.routes.ts';
import { renderSignInPages } from './people/pages/sign-in-pages.ts';
import { anonymousSignInOperations, signInOperations } from './people/sign-ins/sign-in.routes.ts';
import { signedInOperations } from './people/sign-ins/signed-in.routes.ts';
import { listPermissions } from './permissions/permission.routes.ts';
import { proxyOperations } from './proxies/proxy.routes.ts';
import { reactorFormulaOperations } from './reactors/formulas/reactor-formula.routes.ts';
import { reactorOperations } from './reactors/reactor.routes.ts';
import { reactorRunOperations } from './reactors/runs/reactor-run.routes.ts';
import { search } from './search/search.routes.ts';
import { createSession, sessionOperations } from './sessions/session.routes.ts';
import { tenantOperations } from './tenants/tenant.routes.ts';

export const operations = [
  ...applicationOperations,
  getApplicationUses,
  explainAccess,
  ...applicationKeyOperations,
  ...applicationTemplateOperations,
  ...sessionOperations,
  listPermissions,
  ...tenantOperations,
  ...memberOperations,
  ...invitationOperations,
  ...proxyOperations,
  ...reactorFormulaOperations,
  ...reactorOperations,
  search,
  listInvocations,
  ...reactorRunOperations,
  ...logOperations,
  ...logExportOperations,
  ...ledgerOperations,
];

/** Operations at the host of the fields, for their frames. */
export const fieldsOperations = [createSession];

/** Operations by cookie: all except those for keys of other types, and sign-in itself. */
const consoleOperations = [
  ...operations.filter(({ takesKeyOf }) => takesKeyOf === undefined),
  ...signInOperations,
  ...signedInOperations,
];

const anonymousOperations = [...anonymousSignInOperations, ...issuerOperations, ...lookOperations, acceptInvitation];

export const operationsByCookie = underCookieApi([...consoleOperations, ...anonymousOperations]);

/** Operations that take only the cookie of a sign-in, no key. */
export const operationsOfSignIns = underCookieApi([...signInOperations, ...signedInOperations]);

/** Operations for pages of the console before anybody has signed in. */
export const operationsOfAnybody = underCookieApi(anonymousOperations);

/** For metrics. */
export const operationNames = [...operations, ...operationsByCookie].map(operationName);

export interface AppOptions {
  hostOf: HostOf;
  headerPrefix: string;
  baseUrl: string | undefined;
  corsOrigins: string;
  fieldsOrigin: string | undefined;
  addressOf: (request: IncomingMessage) => string;
  observer: RequestObserver;
  streams: Streams;
  bodyBytes: BodyBytes;
  publicAnswers: readonly PublicAnswer[];
}

/** Each host answers 404 for the paths of the others. */
export function appOf(context: Context, options: AppOptions): RequestListener {
  const { hostOf, headerPrefix, baseUrl, publicAnswers } = options;
  const common = optionsOf(context, options);
  const documentation = readDocumentation(headerPrefix);
  const bySignIn = signInAuthentication(context);
  const consoleFiles = readConsole({ headerPrefix, baseUrl });
  if (context.consoleUrl && !consoleFiles) {
    context.log.warn(
      'The console is not built, so its host serves only the sign-in pages. To build the console, run "npm run build:console"',
    );
  }
  const signInPages = renderSignInPages({
    issuerNames: [...context.issuers.keys()],
    linkSignIn: context.linkSignIn,
    headerPrefix,
  });
  return serveByHost(hostOf, {
    base: expressApi({
      ...common,
      operations,
      staticFiles: documentation.base,
      publicAnswers,
      refusesServiceWorkers: true,
      linksHelp: true,
    }),
    console: expressApi({
      ...common,
      byCookie: true,
      linksHelp: true,
      operations: consoleOperations,
      anonymousOperations,
      publicAnswers,
      authenticate: (request, tx) => bySignIn(readSignInCookie(request), tx),
      staticFiles: [...documentation.console, ...signInPages.files, ...(consoleFiles?.assets ?? [])],
      pageForOthers: { page: consoleFiles?.page ?? signInPages.signedIn, except: [assetsPath] },
      pages: issuerPages(context, signInPages),
    }),
    fields: expressApi({ ...common, ...forFrames(headerPrefix), operations: fieldsOperations }),
    none: expressApi({ ...common, operations: [] }),
  });
}

function optionsOf(
  context: Context,
  { headerPrefix, corsOrigins, fieldsOrigin, addressOf, observer, streams, bodyBytes }: AppOptions,
) {
  const { db, callers, changes, pepper, keyUses, vault, log } = context;
  const headerName = `${headerPrefix}-API-KEY`;
  const presenting = { pepper, keyUses, headerName };
  return {
    context,
    headerPrefix,
    log,
    corsOrigins,
    fieldsOrigin,
    addressOf,
    observer,
    streams,
    bodyBytes,
    idempotency: idempotencyStore({
      db,
      vault,
      pepper,
      confirm: (change) => changes.barrier(change),
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    authenticate: async (request, tx) =>
      authenticate(singleHeader(request, headerName), { callers: tx ? readCallers(tx) : callers, ...presenting }),
  } satisfies Omit<ApiOptions<Context>, 'operations'>;
}
