/** Owns how the time of a message is written: short for the eye, in full for who asks. Nothing for what is no time. */

const dateOf = (timestamp: string): Date | null => {
  const date = new Date(timestamp);
  return timestamp && !Number.isNaN(date.getTime()) ? date : null;
};

export function shortTime(timestamp: string, now = new Date()): string {
  const date = dateOf(timestamp);
  if (!date) return '';
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === now.toDateString()) return time;
  const isThisYear = date.getFullYear() === now.getFullYear();
  const day = date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...(isThisYear ? {} : { year: 'numeric' }) });
  return `${day}, ${time}`;
}

export const fullTime = (timestamp: string): string => dateOf(timestamp)?.toLocaleString() ?? '';
