import { after, type TestContext } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { findChromium } from './find-program.ts'
import { onEnd } from './on-end.ts'

/** The reason why tests have no browser, or false, for a test's option `skip`. */
export const { skip: NO_BROWSER, path: executablePath } = findChromium()

const DISABLED_FEATURES = [
  // This protection of the browser for local servers would hide whether the server works without it.
  'LocalNetworkAccessChecks',
  // Chromium renders the pop-ups of the address bar for each new page, though it shows none: most of the time for an empty page.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
]

/** The browser that the tests of this process share, started for the first one. */
let shared: Promise<Browser> | null = null

after(async () => (await shared)?.close())

/**
 * Returns the Chromium of this process, started for the first test; the pages of a test are closed when it ends. With `names`, a test gets
 * its own Chromium, which resolves them to 127.0.0.1. Neither resolves other names: no request leaves this machine.
 */
export async function startBrowser(t: TestContext, names: readonly string[] = []): Promise<Browser> {
  if (names.length > 0) {
    const own = await launch(names)
    onEnd(t, () => own.close())
    return own
  }
  const browser = await (shared ??= launch([]))
  onEnd(t, async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return browser
}

async function launch(names: readonly string[]): Promise<Browser> {
  const mapped = names.map((name) => `MAP ${name} 127.0.0.1`)
  const rules = [...mapped, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost']
  return chromium.launch({
    executablePath,
    args: [
      // Chromium refuses to run as root otherwise, as tests do in containers; it opens only pages of the tests.
      '--no-sandbox',
      '--disable-background-networking',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
      `--host-resolver-rules=${rules.join(', ')}`,
    ],
  })
}
