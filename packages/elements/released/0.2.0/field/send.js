import { problemOf, RequestError, request } from "./requests.js";
import { openSession } from "./session.js";
import { siblingOf } from "./siblings.js";
const creations = new Map();
export async function send(message, key, page) {
    try {
        if (message.do === 'tokenize') {
            const body = bodyOf(gather(message.fields, 'number'), message.options);
            return { token: forPage(await create(body, key)) };
        }
        const { data } = gather(message.fields);
        const session = await openSession(key, page, message.call);
        const path = `/tokens/${encodeURIComponent(message.token)}`;
        return { token: forPage(await request('PATCH', path, { key: session, body: { data } })) };
    }
    catch (error) {
        return { problem: problemOf(error) };
    }
}
function create(body, key) {
    const text = JSON.stringify(body);
    const creation = creations.get(text) ?? { idempotencyKey: crypto.randomUUID() };
    creations.set(text, creation);
    const { idempotencyKey } = creation;
    creation.answer ??= request('POST', '/tokens', { key, body, idempotencyKey })
        .finally(() => {
        creation.answer = undefined;
    })
        .then((token) => {
        creations.delete(text);
        return token;
    }, (error) => {
        if (error instanceof RequestError && error.problem.status)
            creations.delete(text);
        throw error;
    });
    return creation.answer;
}
function bodyOf({ isText, data }, { type, metadata, containers }) {
    const common = { metadata, containers };
    if (isText && type !== 'card_number')
        return { type: type ?? 'token', data, ...common };
    if (!isText && (type ?? 'card') === 'card')
        return { type: 'card', data, ...common };
    if (!isText && type === 'card_number' && isNumberAlone(data))
        return { type, data: data.number, ...common };
    throw new RequestError({ title: `These fields cannot make a token of type ${type}` });
}
function isNumberAlone(data) {
    return typeof data === 'object' && Object.keys(data).join() === 'number';
}
function gather(fields, needed) {
    const parts = fields.map((id) => siblingOf(id)?.take() ?? { name: id });
    const texts = parts.filter(({ isText }) => isText);
    const isText = texts.length > 0;
    if (isText && texts.length < parts.length && parts.every(({ isText }) => isText !== undefined)) {
        throw new RequestError({ title: 'Text fields and card fields cannot make one token together' });
    }
    const members = parts.map(({ name, data }) => (typeof data === 'string' ? { [name]: data } : data));
    const all = Object.assign({}, ...members);
    const incomplete = new Set(parts.filter(({ data }) => data === undefined).map(({ name }) => name));
    if (needed && !isText && !Object.hasOwn(all, needed))
        incomplete.add(needed);
    if (incomplete.size > 0)
        throw new RequestError({ title: 'The fields are not complete', fields: [...incomplete] });
    const [only] = parts;
    return { isText, data: typeof only?.data === 'string' && parts.length === 1 ? only.data : all };
}
function forPage(answer) {
    const { data: _data, fingerprint: _fingerprint, fingerprint_expression: _expression, ...token } = answer;
    return token;
}
