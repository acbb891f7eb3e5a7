import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveHttp } from '@sluice/testing';

/** A server that answers as the named service does, and what it was sent. */
export interface StandIn {
  url: string;
  /** Bodies, oldest first. */
  seen: string[];
  /** A stream that was begun goes on. */
  goOn(): void;
}

export const secretKey = 'sk_test_theirs';
export const declinedNumber = '4000000000000002';

type Answer = { status?: number; body: unknown } | { type: string; parts: string[] };
type Route = (request: { body: string; query: URLSearchParams }) => Answer;

async function start(
  stack: AsyncDisposableStack,
  isAllowed: (request: IncomingMessage) => boolean,
  routes: Record<string, Route>,
  failures: { unauthenticated: unknown; unknownPath: (path: string) => unknown },
): Promise<StandIn> {
  const seen: string[] = [];
  const gates: (() => void)[] = [];
  const url = await serveHttp(stack, async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://x');
    const body = await text(request);
    seen.push(body);
    const route = routes[`${request.method} ${pathname}`];
    if (!isAllowed(request)) return sendJson(response, 401, failures.unauthenticated);
    if (!route) return sendJson(response, 404, failures.unknownPath(`${request.method}: ${pathname}`));
    const answer = route({ body, query });
    if ('body' in answer) return sendJson(response, answer.status ?? 200, answer.body);
    response.writeHead(200, { 'Content-Type': answer.type, 'Request-Id': 'req_1' });
    const [first, ...rest] = answer.parts;
    response.write(first);
    // Whoever buffers the answer never sees its end.
    await Promise.race([new Promise<void>((resolve) => gates.push(resolve)), once(response, 'close')]);
    for (const part of rest) response.write(part);
    response.end();
  });
  return { url, seen, goOn: () => gates.splice(0).forEach((open) => void open()) };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': 'req_1' });
  response.end(JSON.stringify(body));
}

/** Card payments, as Stripe answers them: form bodies, lists by cursor, 402 for a declined card. */
export function startStripe(stack: AsyncDisposableStack): Promise<StandIn> {
  const numbers = new Map<string, string>();
  const payments: { id: string; object: string; amount: number; status: string }[] = [];
  const fault = (type: string, message: string, more: object = {}) => ({ error: { type, message, ...more } });
  return start(
    stack,
    ({ headers }) => headers.authorization === `Bearer ${secretKey}`,
    {
      'POST /v1/payment_methods': ({ body }) => {
        const number = new URLSearchParams(body).get('card[number]') ?? '';
        if (!/^\d{12,19}$/.test(number)) {
          const message = 'Your card number is incorrect.';
          return { status: 402, body: fault('card_error', message, { code: 'incorrect_number', param: 'number' }) };
        }
        const id = `pm_${numbers.size}`;
        numbers.set(id, number);
        return { body: { id, object: 'payment_method', type: 'card', card: { last4: number.slice(-4) } } };
      },
      'POST /v1/payment_intents': ({ body }) => {
        const form = new URLSearchParams(body);
        const payment = { id: `pi_${payments.length}`, object: 'payment_intent', amount: Number(form.get('amount')) };
        if (numbers.get(form.get('payment_method') ?? '') === declinedNumber) {
          const declined = { code: 'card_declined', decline_code: 'generic_decline' };
          return { status: 402, body: fault('card_error', 'Your card was declined.', declined) };
        }
        payments.unshift({ ...payment, status: 'succeeded' });
        return { body: payments[0] };
      },
      'GET /v1/payment_intents': ({ query }) => {
        const from = payments.findIndex(({ id }) => id === query.get('starting_after')) + 1;
        const to = from + Number(query.get('limit') ?? 10);
        const body = { object: 'list', url: '/v1/payment_intents', data: payments.slice(from, to) };
        return { body: { ...body, has_more: to < payments.length } };
      },
      'GET /v1/quotes/qt_1/pdf': () => ({ type: 'application/pdf', parts: ['%PDF-', '1.4'] }),
    },
    {
      unauthenticated: fault('invalid_request_error', 'Invalid API Key provided: sk_test_******'),
      unknownPath: (path) => fault('invalid_request_error', `Unrecognized request URL (${path}).`),
    },
  );
}

const event = (data: unknown, name?: string) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const isStream = (body: string) => JSON.parse(body).stream === true;

/** Models, as OpenAI answers them below `/v1`. */
export function startOpenAi(stack: AsyncDisposableStack): Promise<StandIn> {
  const fault = (message: string, code: string) => ({
    error: { message, type: 'invalid_request_error', param: null, code },
  });
  const completion = { id: 'chatcmpl_1', created: 1_700_000_000, model: 'small' };
  const chunk = (content: string) => {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    return event({ ...completion, object: 'chat.completion.chunk', choices });
  };
  return start(
    stack,
    ({ headers }) => headers.authorization === `Bearer ${secretKey}`,
    {
      'POST /v1/chat/completions': ({ body }) => {
        if (isStream(body)) {
          return { type: 'text/event-stream', parts: [chunk('a '), chunk('b'), 'data: [DONE]\n\n'] };
        }
        const message = { role: 'assistant', content: 'hello', refusal: null };
        const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
        return { body: { ...completion, object: 'chat.completion', choices } };
      },
      'GET /v1/models': () => ({
        body: { object: 'list', data: [{ id: 'small', object: 'model', created: 1_700_000_000, owned_by: 'x' }] },
      }),
    },
    {
      unauthenticated: fault('Incorrect API key provided: sk_test_******.', 'invalid_api_key'),
      unknownPath: (path) => fault(`Invalid URL (${path})`, 'unknown_url'),
    },
  );
}

/** Models, as Anthropic answers them. */
export function startAnthropic(stack: AsyncDisposableStack): Promise<StandIn> {
  const fault = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_1' });
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'small', stop_sequence: null };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const delta = (text: string) => {
    const data = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
    return event(data, data.type);
  };
  const begin = { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } };
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage };
  return start(
    stack,
    ({ headers }) => [headers['x-api-key'], headers.authorization?.replace('Bearer ', '')].includes(secretKey),
    {
      'POST /v1/messages': ({ body }) => {
        if (isStream(body)) {
          const first = event(begin, begin.type) + event(block, block.type) + delta('a ');
          const stop = event({ type: 'content_block_stop', index: 0 }, 'content_block_stop');
          const last = event(end, end.type) + event({ type: 'message_stop' }, 'message_stop');
          return { type: 'text/event-stream', parts: [first, delta('b'), stop + last] };
        }
        const content = [{ type: 'text', text: 'hello' }];
        return { body: { ...message, content, stop_reason: 'end_turn', usage } };
      },
      'GET /v1/models': () => ({
        body: {
          data: [{ type: 'model', id: 'small', display_name: 'Small', created_at: '2026-01-01T00:00:00Z' }],
          ...{ has_more: false, first_id: 'small', last_id: 'small' },
        },
      }),
    },
    {
      unauthenticated: fault('authentication_error', 'invalid x-api-key'),
      unknownPath: () => fault('not_found_error', 'Not found'),
    },
  );
}

/** Card payments as JSON, as Adyen's Checkout takes them: every member of a card is text, the month has two digits. */
export function startAdyen(stack: AsyncDisposableStack): Promise<StandIn> {
  const fault = (status: number, errorCode: string, message: string, errorType: string) => {
    return { status, errorCode, message, errorType, pspReference: 'psp_1' };
  };
  const form = { number: /^\d{12,19}$/, expiryMonth: /^(0[1-9]|1[0-2])$/, expiryYear: /^\d{4}$/, cvc: /^\d{3,4}$/ };
  return start(
    stack,
    ({ headers }) => headers['x-api-key'] === secretKey,
    {
      'POST /v71/payments': ({ body }) => {
        const { paymentMethod } = JSON.parse(body);
        const wrong = Object.entries(form).find(([name, pattern]) => {
          return typeof paymentMethod[name] !== 'string' || !pattern.test(paymentMethod[name]);
        });
        if (wrong) return { status: 422, body: fault(422, '129', `Invalid card: ${wrong[0]}`, 'validation') };
        const isDeclined = paymentMethod.number === declinedNumber;
        const outcome = isDeclined ? { resultCode: 'Refused', refusalReason: 'Refused' } : { resultCode: 'Authorised' };
        return { body: { pspReference: 'psp_1', ...outcome } };
      },
    },
    {
      unauthenticated: fault(401, '000', 'HTTP Status Response - Unauthorized', 'security'),
      unknownPath: () => fault(404, '000', 'Not found', 'security'),
    },
  );
}

/** Who issued a card, by its first eight digits. */
export function startBins(stack: AsyncDisposableStack): Promise<StandIn> {
  return start(
    stack,
    ({ headers }) => headers.authorization === `Bearer ${secretKey}`,
    { 'GET /bins/42424242': () => ({ body: { brand: 'visa', country: 'FR', type: 'credit' } }) },
    { unauthenticated: { error: 'wrong key' }, unknownPath: (path) => ({ error: `unknown BIN: ${path}` }) },
  );
}

/** A directory server of 3-D Secure, which wants a whole number and an amount. */
export function startThreeDs(stack: AsyncDisposableStack): Promise<StandIn> {
  return start(
    stack,
    ({ headers }) => headers.authorization === `Bearer ${secretKey}`,
    {
      'POST /lookup': ({ body }) => {
        const { merchant, pan, amount } = JSON.parse(body);
        const isGood = merchant === 'shop' && /^\d{12,19}$/.test(pan) && Number.isInteger(amount);
        if (!isGood) return { status: 422, body: { error: 'not a look-up' } };
        return { body: { status: 'Y', eci: '05', cavv: 'AAABBJg0VhI0VniQEjRWAAAAAAA=' } };
      },
    },
    { unauthenticated: { error: 'wrong key' }, unknownPath: (path) => ({ error: `unknown path: ${path}` }) },
  );
}

/** A backend of one's own, which wants tokens in place of cards, and a key that only the transform sets. */
export function startBackend(stack: AsyncDisposableStack): Promise<StandIn> {
  return start(
    stack,
    ({ headers }) => headers.authorization === `Bearer ${secretKey}`,
    {
      'POST /bookings': ({ body }) => {
        const { booking, ...tokens } = JSON.parse(body);
        const areIds = Object.values(tokens).every((id) =>
          /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(id)),
        );
        if (!areIds) return { status: 422, body: { error: 'something else than tokens' } };
        return { status: 201, body: { accepted: { booking, ...tokens } } };
      },
    },
    { unauthenticated: { error: 'not from the transform' }, unknownPath: (path) => ({ error: `unknown: ${path}` }) },
  );
}

/** A partner that tells the card of a booking. */
export function startPartner(stack: AsyncDisposableStack): Promise<StandIn> {
  const card = { number: '4242424242424242', expiryMonth: '03', expiryYear: '2030' };
  return start(
    stack,
    ({ headers }) => headers.authorization === `Bearer ${secretKey}`,
    { 'GET /v1/bookings/b-1': () => ({ body: { booking: 'b-1', card, note: 'window seat' } }) },
    { unauthenticated: { error: 'wrong key' }, unknownPath: () => ({ error: 'no such booking' }) },
  );
}

/** Repositories, as GitHub answers them: three pages that `Link` names, and redirects. */
export async function startGitHub(
  stack: AsyncDisposableStack,
): Promise<Pick<StandIn, 'url' | 'seen'> & { redirects: Map<string, string> }> {
  const redirects = new Map<string, string>();
  const seen: string[] = [];
  const url = await serveHttp(stack, ({ method, url: target = '', headers }, response) => {
    const { pathname, searchParams } = new URL(target, 'http://x');
    seen.push(`${method} ${target}`);
    if (headers.authorization !== `token ${secretKey}`) return sendJson(response, 401, { message: 'Bad credentials' });
    const location = redirects.get(pathname);
    if (location !== undefined) {
      response.setHeader('Location', location);
      return sendJson(response, 301, { message: 'Moved Permanently' });
    }
    const [, id] = /^\/repositories\/(\d)$/.exec(pathname) ?? [];
    if (id !== undefined) return sendJson(response, 200, { id: Number(id) });
    if (pathname !== '/user/repos') return sendJson(response, 404, { message: 'Not Found' });
    const page = Number(searchParams.get('page') ?? 1);
    const linkTo = (other: number, rel: string) => `<${url}/user/repos?page=${other}>; rel="${rel}"`;
    if (page < 3) response.setHeader('Link', `${linkTo(page + 1, 'next')}, ${linkTo(3, 'last')}`);
    sendJson(response, 200, [{ id: page }]);
  });
  return { url, seen, redirects };
}
