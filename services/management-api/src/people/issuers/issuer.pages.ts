import {
  giveAttemptCookie,
  type HtmlPage,
  isOwn,
  type PageAnswer,
  type PageInput,
  readAttemptCookie,
} from '@sluice/http-api';
import { asServiceError, ServiceError } from '@sluice/problems';
import type { Context } from '../../context.ts';
import type { SignInPages } from '../pages/sign-in-pages.ts';
import { admit } from './admit.ts';
import { attemptOf, attemptSeconds, randomAttempt } from './attempt.ts';
import { AttemptRefused, type Issuer, IssuerUnavailable } from './issuer.ts';

/**
 * `/sign-in/<name>` redirects to the issuer, which redirects back to `/sign-in/<name>/callback`. Neither signs anybody
 * in.
 */
export function issuerPages(context: Context, pages: SignInPages): HtmlPage[] {
  const { issuers, failedSignIns } = context;

  async function leave(issuer: Issuer): Promise<PageAnswer> {
    const cookie = randomAttempt();
    const url = await issuer.authorizationUrl(attemptWith(cookie, issuer));
    return { status: 302, html: '', headers: { ...giveAttemptCookie(cookie, attemptSeconds), Location: url.href } };
  }

  async function comeBack(issuer: Issuer, { request, query, traceId, address }: PageInput): Promise<PageAnswer> {
    await failedSignIns.refuseMany(address());
    const cookie = readAttemptCookie(request);
    const identity = await identify(issuer, cookie, query).catch(async (error: unknown) => {
      // Without an attempt nothing was guessed, and any page of another site can send its visitor here.
      const isAttempt = attemptOf(cookie, issuer.name) !== undefined;
      if (error instanceof AttemptRefused && isAttempt) await failedSignIns.refusal(address());
      throw error;
    });
    const { secret, tenants } = await admit(context, identity, traceId);
    const { headers, ...page } = pages.finish(tenants, identity.email);
    return { ...page, headers: { ...headers, ...giveAttemptCookie(secret, attemptSeconds) } };
  }

  /** Every failure here is answered with a page, because a person sees it. */
  async function unlessFailed(input: PageInput, work: (issuer: Issuer) => Promise<PageAnswer>): Promise<PageAnswer> {
    const { params, traceId } = input;
    try {
      const issuer = issuers.get(params.name ?? '');
      if (!issuer) throw new ServiceError('not_found', 'There is no such identity provider.');
      return await work(issuer);
    } catch (error) {
      logFailure(context, error, traceId);
      return pages.failure({ ...toFailure(error), traceId });
    }
  }

  return [
    {
      path: '/sign-in/:name',
      // A page of another site must not begin a sign-in, because it could end as a person of that site's choice.
      answer: async (input) => (isOwn(input.request, { alsoNone: true }) ? unlessFailed(input, leave) : pages.signIn),
    },
    { path: '/sign-in/:name/callback', answer: (input) => unlessFailed(input, (issuer) => comeBack(issuer, input)) },
  ];
}

async function identify(issuer: Issuer, cookie: string | undefined, query: URLSearchParams) {
  return issuer.identify(query, attemptWith(cookie, issuer));
}

/** @throws {AttemptRefused} for a browser that did not begin here, with this issuer, in the last ten minutes. */
function attemptWith(cookie: string | undefined, { name }: Issuer) {
  const attempt = attemptOf(cookie, name);
  if (!attempt) throw new AttemptRefused('no cookie of an attempt');
  return attempt;
}

/** Logs only the code of the library's errors, because they may contain text from an issuer or a browser. */
function logFailure({ log }: Context, error: unknown, traceId: string): void {
  if (error instanceof AttemptRefused || error instanceof IssuerUnavailable) {
    const { cause } = error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
    const reason = code ?? (cause instanceof Error ? cause.name : error.message);
    if (error instanceof AttemptRefused) log.info({ trace_id: traceId, reason }, 'signing in by an issuer was refused');
    else log.error({ trace_id: traceId, reason }, 'an issuer is not available');
    return;
  }
  if (asServiceError(error).status >= 500)
    log.error({ err: error, trace_id: traceId }, 'signing in by an issuer failed');
}

function toFailure(error: unknown): { status: number; title: string; text: string } {
  const title = 'You are not signed in';
  if (error instanceof AttemptRefused) {
    const text =
      'The sign-in was cancelled, took longer than ten minutes, or was started in another window. Please try again.';
    return { status: 401, title, text };
  }
  if (error instanceof IssuerUnavailable) {
    return { status: 503, title, text: 'Your identity provider is unavailable. Please try again in a moment.' };
  }
  const { status, message } = asServiceError(error);
  return { status, title, text: status < 500 ? message : 'An error occurred in Sluice. Please try again in a moment.' };
}
