import { problemOf, RequestError, request } from "./requests.js";
import { openSession } from "./session.js";
import { siblingOf } from "./siblings.js";
let lost;
export async function send(message, key, page) {
    try {
        const content = gather(message.fields);
        if (message.do === 'tokenize')
            return { token: withoutData(await create(content, key, message.options)) };
        const session = await openSession(key, page, message.call);
        const path = `/tokens/${encodeURIComponent(message.token)}`;
        return { token: withoutData(await request('PATCH', path, { key: session, body: { data: content.data } })) };
    }
    catch (error) {
        return { problem: problemOf(error) };
    }
}
async function create({ data, isText }, key, options) {
    const { type = isText ? 'token' : 'card', metadata, containers } = options;
    const isNumber = type === 'card_number' && typeof data === 'object';
    const body = { type, data: isNumber ? data.number : data, metadata, containers };
    const text = JSON.stringify(body);
    const idempotencyKey = lost?.text === text ? lost.idempotencyKey : crypto.randomUUID();
    lost = { text, idempotencyKey };
    try {
        const token = await request('POST', '/tokens', { key, body, idempotencyKey });
        lost = undefined;
        return token;
    }
    catch (error) {
        if (error instanceof RequestError && error.problem.status)
            lost = undefined;
        throw error;
    }
}
function gather(fields) {
    const parts = fields.map((id) => siblingOf(id)?.take() ?? { name: id, data: undefined });
    const incomplete = parts.filter(({ data }) => data === undefined).map(({ name }) => name);
    if (incomplete.length > 0)
        throw new RequestError({ title: 'Not complete', fields: incomplete });
    const members = parts.map(({ name, data }) => (typeof data === 'string' ? { [name]: data } : data));
    const [only] = parts;
    const isText = typeof only?.data === 'string';
    return { isText, data: isText && parts.length === 1 ? String(only.data) : Object.assign({}, ...members) };
}
function withoutData({ data: _, ...token }) {
    return token;
}
