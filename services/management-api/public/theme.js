// Runs before the first paint, so that a page of the console's host appears at once in the theme that the person has chosen.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The browser forbids storage, so the page follows the system.
}
