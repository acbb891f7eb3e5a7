/** A violation of a content security policy, as the browser tells it to the page. */
export interface Violation {
  /** The page or frame whose policy it was, without query and fragment. */
  page: string;
  directive: string;
  /** What was refused: an address, `inline`, `eval`, `trusted-types-sink` … */
  blocked: string;
}

declare global {
  interface Window {
    /** Given by the test. */
    reportViolation(violation: Violation): void;
  }
}

/** Runs in each page and frame, before its own scripts. It is sent there as text, so it may use nothing from around it. */
export function reportViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    const page = location.origin + location.pathname;
    window.reportViolation({ page, directive: effectiveDirective, blocked: blockedURI });
  });
}
