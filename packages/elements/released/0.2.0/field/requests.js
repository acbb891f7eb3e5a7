import { application } from "./siblings.js";
const pausesMs = [500, 2000];
export class RequestError extends Error {
    problem;
    constructor(problem) {
        super(problem.title);
        this.problem = problem;
    }
}
export function problemOf(error) {
    if (error instanceof RequestError)
        return error.problem;
    reportError(error);
    return { title: 'The field has an internal error' };
}
export async function request(method, path, options) {
    const response = await send(path, toInit(method, options), options.idempotencyKey ? pausesMs : []);
    const answer = (await response.json().catch(() => ({})));
    if (response.ok)
        return answer;
    const { title = 'The vault refused the request', detail, errors } = answer;
    const retryAfter = response.headers.get('Retry-After')?.trim() ?? '';
    const told = { status: response.status, title, ...(detail && { detail }), ...(errors && { errors }) };
    throw new RequestError(/^\d+$/.test(retryAfter) ? { ...told, retryAfterSeconds: Number(retryAfter) } : told);
}
function toInit(method, { key, body, idempotencyKey }) {
    const prefix = document.documentElement.dataset.headerPrefix ?? '';
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = {
        [`${prefix}-API-KEY`]: key,
        [`${prefix}-FIELDS-APPLICATION`]: application,
        ...(idempotencyKey && { [`${prefix}-IDEMPOTENCY-KEY`]: idempotencyKey }),
        ...(body && { 'Content-Type': type }),
    };
    return {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
    };
}
async function send(path, init, [pauseMs, ...rest]) {
    try {
        return await fetch(path, init);
    }
    catch {
        if (pauseMs === undefined)
            throw new RequestError({ title: 'The vault did not respond' });
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        return send(path, init, rest);
    }
}
