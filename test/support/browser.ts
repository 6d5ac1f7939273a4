import type { TestContext } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { findChromium } from './find-program.ts'
import { onEnd } from './on-end.ts'

/** Whether tests can have a browser: for a test's option `skip`, why not, or false. */
export const { skip: NO_BROWSER, path: executablePath } = findChromium()

/**
 * Starts a Chromium that is closed when the test ends. It takes `names` for 127.0.0.1 and knows no other: nothing leaves
 * this machine.
 */
export async function startBrowser(t: TestContext, names: readonly string[] = []): Promise<Browser> {
  const mapped = names.map((name) => `MAP ${name} 127.0.0.1`)
  const rules = [...mapped, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost']
  const browser = await chromium.launch({
    executablePath,
    args: [
      // Chromium refuses to run as root otherwise, which is who runs tests in containers; it sees our own pages only.
      '--no-sandbox',
      '--disable-background-networking',
      // The browser's own care for servers on this machine would hide whether ours withstands without it.
      '--disable-features=LocalNetworkAccessChecks',
      `--host-resolver-rules=${rules.join(', ')}`,
    ],
  })
  onEnd(t, () => browser.close())
  return browser
}
