import { Toast } from '@base-ui/react/toast';

/** `notices.add({ title, description })` shows one for a while, and screen readers say it. */
export const notices = Toast.createToastManager();
