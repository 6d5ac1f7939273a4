/**
 * Attacks of a page on a server of another origin, as code that runs in the page. `T` is the origin under attack, e.g.
 * `http://127.0.0.1:3000`. The code is text, since the project has no types of the browser.
 */

/** A text in the attacked sheet that a page must not read. */
export const CANARY = 'canary-5d1f'

/** A well-formed token, which the page plants as cookie if it can. */
export const PLANTED = 'P-_'.repeat(14) + 'z'

export interface Attack {
  readonly name: string
  /** An expression, possibly with await; its value is what the page has read. */
  readonly code: string
  /** Whether it succeeds against an unprotected server; the browser itself stops the others. */
  readonly needsCare: boolean
}

/** Whether an attack has succeeded: it returned an event of success, or the content itself. */
export function isLearnt(outcome: string): boolean {
  return ['load', 'open'].includes(outcome) || outcome.includes(CANARY)
}

/** Attempts to read from the sheet, or to learn that it has contents. */
export const READS: readonly Attack[] = [
  stoppedByCare('fetch', `(await fetch(RECORDS)).text()`),
  stoppedByCare('fetch with cookies', `(await fetch(RECORDS, { credentials: 'include' })).text()`),
  stoppedByBrowser('fetch without CORS', `(await fetch(RECORDS, { mode: 'no-cors' })).text()`),
  stoppedByBrowser('fetch as if of one origin', `(await fetch(RECORDS, { mode: 'same-origin' })).text()`),
  stoppedByCare('fetch of a redirect', `(await fetch('/redirect?' + RECORDS)).text()`),
  stoppedByCare('fetch of the token', `(await fetch(T + '/api/csrf', { credentials: 'include' })).text()`),
  stoppedByCare('XMLHttpRequest', `request('GET', RECORDS, {}, null)`),
  stoppedByCare(
    'a query as plain text',
    `(await fetch(T + '/api/query', { method: 'POST', body: '{"sql":"SELECT * FROM records"}' })).text()`,
  ),
  stoppedByCare(
    'a query as JSON',
    `(await fetch(T + '/api/query', { method: 'POST', headers: JSON_TYPE, body: '{"sql":"SELECT * FROM records"}' })).text()`,
  ),
  stoppedByCare('an event stream', `after(new EventSource(T + '/events'), 'open')`),
  stoppedByCare(
    'an event stream with cookies',
    `after(new EventSource(T + '/events', { withCredentials: true }), 'open')`,
  ),
  stoppedByCare('a script', `insert('script', { src: RECORDS })`),
  stoppedByCare('a module', `insert('script', { type: 'module', src: RECORDS })`),
  stoppedByCare('an import', `import(RECORDS).then(() => 'load')`),
  stoppedByCare('a preload', `insert('link', { rel: 'preload', as: 'script', href: RECORDS })`),
  stoppedByBrowser('an image', `insert('img', { src: RECORDS })`),
  stoppedByCare('a style sheet', `insert('link', { rel: 'stylesheet', href: RECORDS })`),
  stoppedByBrowser('a video', `insert('video', { src: RECORDS, preload: 'auto' }, 'loadeddata')`),
  stoppedByBrowser('a frame', `show(make('iframe', { src: RECORDS }))`),
  stoppedByBrowser('an object', `show(make('object', { data: RECORDS }))`),
  stoppedByCare(
    'a sandboxed frame that fetches',
    `(insert('iframe', { sandbox: 'allow-scripts', srcdoc: '<script>fetch("' + RECORDS + '").then((r) => r.text()).catch(String).then((t) => parent.postMessage(t, "*"))</scr' + 'ipt>' }), new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data), { once: true })))`,
  ),
  stoppedByBrowser('a worker', `after(new Worker(RECORDS), 'message')`),
  stoppedByCare(
    'a worker that imports',
    `new Promise((resolve) => { new Worker(URL.createObjectURL(new Blob(['try { importScripts("' + RECORDS + '"); postMessage("load") } catch (error) { postMessage(String(error)) }']))).onmessage = ({ data }) => resolve(data) })`,
  ),
  stoppedByBrowser('a service worker', `navigator.serviceWorker.register(RECORDS).then(() => 'load')`),
  stoppedByBrowser('a web socket', `after(new WebSocket(T.replace('http', 'ws') + '/events'), 'open')`),
]

/** Attempts to change the sheet, or to run it at its owner's cost. */
export const WRITES: readonly Attack[] = [
  stoppedByCare('a form as plain text', `submit('text/plain', RECORDS)`),
  stoppedByCare('a form, URL-encoded', `submit('application/x-www-form-urlencoded', RECORDS)`),
  stoppedByCare('a form in parts', `submit('multipart/form-data', RECORDS)`),
  stoppedByCare('a form by way of a redirect', `submit('text/plain', '/redirect?' + RECORDS)`),
  stoppedByCare('a beacon', `navigator.sendBeacon(RECORDS, BODY)`),
  stoppedByCare(
    'a beacon of JSON',
    `navigator.sendBeacon(RECORDS, new Blob([BODY], { type: 'application/json' }))`,
  ),
  stoppedByCare('fetch', `fetch(RECORDS, { method: 'POST', body: BODY, credentials: 'include' })`),
  stoppedByCare(
    'fetch of bytes',
    `fetch(RECORDS, { method: 'POST', body: new Blob([BODY]), credentials: 'include' })`,
  ),
  stoppedByCare(
    'fetch without CORS',
    `fetch(RECORDS, { method: 'POST', body: BODY, mode: 'no-cors', credentials: 'include', headers: TOKENS })`,
  ),
  stoppedByCare(
    'fetch as JSON, with the planted token',
    `fetch(RECORDS, { method: 'POST', body: BODY, credentials: 'include', headers: { ...JSON_TYPE, ...TOKENS } })`,
  ),
  stoppedByCare(
    'fetch that outlives the page',
    `fetch(RECORDS, { method: 'POST', body: BODY, mode: 'no-cors', keepalive: true, credentials: 'include' })`,
  ),
  stoppedByCare(
    'XMLHttpRequest as JSON, with the planted token',
    `request('POST', RECORDS, { ...JSON_TYPE, ...TOKENS }, BODY)`,
  ),
  stoppedByCare(
    'a deletion with the planted token',
    `fetch(RECORDS + '?ids=a', { method: 'DELETE', credentials: 'include', headers: { ...TOKENS, 'X-Svc-Actor': 'agent:evil' } })`,
  ),
  stoppedByCare(
    'a run',
    `fetch(T + '/api/materialize', { method: 'POST', body: '{"actor":"agent:evil"}', mode: 'no-cors', credentials: 'include' })`,
  ),
]

function stoppedByCare(name: string, code: string): Attack {
  return { name, code, needsCare: true }
}

function stoppedByBrowser(name: string, code: string): Attack {
  return { name, code, needsCare: false }
}

/** Returns the script of an attack on an origin, which always evaluates to a text. */
export function attackScript({ code }: Attack, target: string): string {
  return `(async () => {
    const T = ${JSON.stringify(target)}
    const RECORDS = T + '/api/records'
    const JSON_TYPE = { 'Content-Type': 'application/json' }
    const TOKENS = { 'X-CSRF-Token': '${PLANTED}' }
    const BODY = '{"actor":"agent:evil","records":[{"id":"planted","title":"Planted"}]}'
    const after = (object, event) =>
      new Promise((resolve) => {
        for (const one of [event, 'error']) {
          object.addEventListener(one, () => {
            resolve(one)
            object.close?.()
          })
        }
      })
    const make = (tag, members) => {
      const element = Object.assign(document.createElement(tag), members)
      document.body.append(element)
      return element
    }
    const insert = (tag, members, event = 'load') => after(make(tag, members), event)
    const show = (element) => after(element, 'load').then(() => element.contentDocument.body.innerText)
    const request = (method, url, headers, body) => {
      const xhr = new XMLHttpRequest()
      xhr.open(method, url)
      xhr.withCredentials = true
      for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
      xhr.send(body)
      return after(xhr, 'loadend').then(() => xhr.responseText)
    }
    const submit = (enctype, action) => {
      const frame = make('iframe', { name: 'frame' + frames.length })
      const form = make('form', { action, enctype, method: 'post', target: frame.name })
      const [name, value] = BODY.split(/(?<=title":")Planted/)
      form.append(Object.assign(document.createElement('input'), { name, value }))
      form.submit()
      return after(frame, 'load')
    }
    try { return String(await (${code})) } catch (error) { return 'failed: ' + error }
  })()`
}

/** Plants the cookie wherever a page may; does nothing elsewhere. */
export const PLANT_COOKIE = `(() => {
  try { for (const path of ['/', '/api']) document.cookie = 'svc_csrf=${PLANTED}; Path=' + path } catch {}
})()`
