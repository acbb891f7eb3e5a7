import { offer } from "./siblings.js";
export function open({ group, id }) {
    offer(group, id);
    return { focus: () => { }, clear: () => { }, update: () => { } };
}
