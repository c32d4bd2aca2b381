/** Owns the media types of files, by their names' endings. */

const TYPES: Record<string, string> = {
  'text/javascript': 'js mjs cjs',
  'text/css': 'css',
  'text/html': 'html htm',
  'text/plain': 'txt log md',
  'text/csv': 'csv',
  'text/vtt': 'vtt',
  'application/json': 'json geojson ipynb map',
  'application/wasm': 'wasm',
  'application/pdf': 'pdf',
  'application/xml': 'xml',
  'image/png': 'png apng',
  'image/jpeg': 'jpg jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'image/bmp': 'bmp',
  'image/x-icon': 'ico',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/ogg': 'ogg oga opus',
  'video/mp4': 'mp4 m4v',
  'video/webm': 'webm',
  'video/ogg': 'ogv',
  'font/woff': 'woff',
  'font/woff2': 'woff2',
  'font/ttf': 'ttf',
  'font/otf': 'otf',
};

const BY_ENDING = new Map(Object.entries(TYPES).flatMap(([type, endings]) => endings.split(' ').map((ending) => [ending, type])));

export function mediaType(path: string): string {
  return BY_ENDING.get(/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '') ?? 'application/octet-stream';
}
