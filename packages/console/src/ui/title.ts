import { useEffect } from 'react';

/** From the most special to the most general: `Request transform · Payments · Acme`. */
const levels = ['part', 'page', 'tenant'] as const;

type Level = (typeof levels)[number];

const shown: Partial<Record<Level, string>> = {};

function apply(): void {
  const texts = new Set(levels.flatMap((each) => shown[each] ?? []));
  document.title = [...texts].join(' · ') || 'Sluice';
}

/** Names what is on the screen in the title of the tab, as long as it is there. */
export function useTitle(level: Level, text: string | undefined): void {
  useEffect(() => {
    if (text === undefined) return;
    shown[level] = text;
    apply();
    return () => {
      delete shown[level];
      apply();
    };
  }, [level, text]);
}
