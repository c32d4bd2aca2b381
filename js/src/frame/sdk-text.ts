/** Owns the SDK's text, which the build puts in. */

declare const __SDK__: string;

export async function sdkText(): Promise<string> {
  return __SDK__;
}
