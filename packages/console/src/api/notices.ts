interface Notice {
  title: string;
  description?: string | undefined;
}

let show: ((notice: Notice) => void) | undefined;
const waiting: Notice[] = [];

/** `notices.add({ title, description })` shows one for a while, and screen readers say it. */
export const notices = {
  add(notice: Notice): void {
    if (show) show(notice);
    else waiting.push(notice);
  },
};

/** Called once the component is loaded that shows notices. It shows those that have waited for it, too. */
export function onNotice(shown: (notice: Notice) => void): void {
  show = shown;
  for (const notice of waiting.splice(0)) shown(notice);
}
