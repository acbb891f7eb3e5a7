const paths = {
  overview: 'M3 12h4l3-8 4 16 3-8h4',
  tokens: 'M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9zM12 12l7.8-4.5M12 12v9M12 12L4.2 7.5',
  applications: 'M14.5 9.5a4.5 4.5 0 1 0-4.2 4.5L12 15.700v2.300h2.300v2.300H18v-3.700l-4-4M9.5 9h.01',
  proxies: 'M4 8h13l-3.5-3.500M20 16H7l3.5 3.5',
  reactors: 'M13 2.500L4.5 13.500H12l-1 8L19.5 10.500H12z',
  invocations: 'M4 6h16M4 12h10M4 18h13',
  audit: 'M12 3l7.5 3v5.500c0 4.5-3 8-7.5 9.5-4.5-1.5-7.5-5-7.5-9.500V6zM9 12l2.2 2.200L15.2 10',
  reference:
    'M5 4.500A1.5 1.5 0 0 1 6.5 3H19v15H6.500A1.5 1.5 0 0 0 5 19.500zM5 19.500A1.5 1.5 0 0 0 6.5 21H19v-3M9 7.500h6',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M13 4.500v5M11 14.500v5',
  search: 'M10.5 17.500a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM15.5 15.500L20.5 20.5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.500l4.5 4.500L19 7.5',
  lock: 'M6 11h12v9.500H6zM8.5 11V7.500a3.5 3.5 0 0 1 7 0V11',
  down: 'M7 10l5 5 5-5',
  left: 'M14.5 6.500L9 12l5.5 5.5',
  right: 'M9.5 6.500L15 12l-5.5 5.5',
  plus: 'M12 5v14M5 12h14',
  alert: 'M12 4L2.8 20h18.400zM12 10v4.500M12 17.300h.01',
  download: 'M12 4v11M7.5 11L12 15.500 16.5 11M5 20h14',
  everywhere: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c4 4 4 14 0 18M12 3c-4 4-4 14 0 18',
  out: 'M14 4h5.500v16H14M10.5 8L6.5 12l4 4M6.5 12H15',
} as const;

export type IconName = keyof typeof paths;

/** Decoration only. The text beside it, or the label of its button, says what it means. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
