/** Owns how an image that a person pastes, drops or chooses becomes a data URL of a kind and size that the host takes. */

const KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** The host takes four million characters as a data URL. */
const MAX_BYTES = 2_999_000;

export const ACCEPTED = KINDS.join(',');

export const imageIn = (files: Iterable<File> | null | undefined): File | null => [...(files ?? [])].find(({ type }) => type.startsWith('image/')) ?? null;

/** Rejects with words for the person. */
export function imageUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!KINDS.includes(file.type)) return reject(new Error('An image is a PNG, JPEG, GIF or WebP.'));
    if (file.size > MAX_BYTES) return reject(new Error(`The image has ${(file.size / 1e6).toFixed(1)} MB; at most 3 MB can be sent.`));
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error('The image could not be read.'));
    reader.readAsDataURL(file);
  });
}
