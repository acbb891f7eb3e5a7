import { showNumber } from "../field/cards.js";
export function rowsOf(type, data) {
    if (type === 'card_number')
        return [row('', data, showNumber(String(data)))];
    if (typeof data !== 'object' || data === null || Array.isArray(data))
        return [row('', data)];
    const { number, expiration_month: month, expiration_year: year, ...others } = data;
    if (type !== 'card')
        return Object.entries(data).map(([name, value]) => row(name, value));
    const expiry = `${String(month).padStart(2, '0')} / ${String(year).slice(-2)}`;
    return [
        row('number', number, showNumber(String(number))),
        ...(month === undefined || year === undefined ? [] : [row('expiry', expiry)]),
        ...Object.entries(others).map(([name, value]) => row(name, value)),
    ];
}
function row(name, value, shown) {
    const copied = typeof value === 'string' ? value : JSON.stringify(value);
    return { name, shown: shown ?? copied, copied };
}
