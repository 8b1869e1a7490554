// Authorization with the SDK's own flow. Here is only what an application adds: where credentials are kept, and
// how the user's consent is brought.

import { createHash, randomUUID } from 'node:crypto'

import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client'

// Never fetched: an authorization server of a scenario knows it by name.
const METADATA_DOCUMENT = 'https://conformance-test.local/client-metadata.json'
const REDIRECT = 'http://localhost:8976/callback'
// How often the user is asked before the client believes that it leads nowhere.
const MOST_CONSENTS = 3
// How long an authorization server may take to redirect, in milliseconds.
const PATIENCE = 20_000

// Addresses that may be opened: encrypted, or on this machine.
function isSafe({ protocol, hostname }) {
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
}

// Keeps what the SDK asks it to keep, for as long as the process runs.
class Credentials {
  #client
  #tokens

  constructor({ client_id, client_secret }) {
    this.#client = client_id && { client_id, client_secret }
  }

  clientInformation() {
    return this.#client
  }

  saveClientInformation(information) {
    this.#client = information
  }

  tokens() {
    return this.#tokens
  }

  saveTokens(tokens) {
    this.#tokens = tokens
  }

  invalidateCredentials(scope) {
    if (scope === 'all' || scope === 'client') this.#client = undefined
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined
  }
}

// Several requests may find at once that they need the user's consent: the user is asked once, and what belongs to
// that question is kept together.
class ConsentingUser extends Credentials {
  clientMetadataUrl = METADATA_DOCUMENT
  redirectUrl = REDIRECT
  clientMetadata = {
    client_name: 'typescript-sdk-2-conformance',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }

  // How many consents became tokens.
  redeemed = 0

  #asked = 0
  #consent
  #redeeming
  #clients = new Map()
  #verifiers = new Map()
  #verifier
  #discovery

  constructor(plan) {
    super(plan)
    if (plan.oauth.dpop) {
      const session = DpopSession.create()
      this.dpop = () => session
    }
  }

  state() {
    return randomUUID()
  }

  saveClientInformation(information) {
    this.#clients.set(information.client_id, information)
    if (!this.#consent) super.saveClientInformation(information)
  }

  saveCodeVerifier(verifier) {
    this.#verifiers.set(createHash('sha256').update(verifier).digest('base64url'), verifier)
  }

  codeVerifier() {
    return this.#verifier
  }

  saveDiscoveryState(discovery) {
    this.#discovery = discovery
  }

  // Good for the question that was asked: the next one looks again, since the server may have moved.
  discoveryState() {
    return this.#consent && this.#discovery
  }

  async redirectToAuthorization(url) {
    if (!isSafe(url)) throw new Error(`not sending the user to ${url.origin}: neither https nor loopback`)
    if (this.#consent) return
    this.#consent = this.#ask(url)
    try {
      await this.#consent
    } catch (error) {
      this.#consent = undefined
      throw error
    }
  }

  // The user consents at once: the server's answer is the redirection that a browser would follow.
  async #ask({ href, searchParams: question }) {
    if (++this.#asked > MOST_CONSENTS) throw new Error(`not authorized after ${MOST_CONSENTS} consents: giving up`)
    super.saveClientInformation(this.#clients.get(question.get('client_id')))
    this.#verifier = this.#verifiers.get(question.get('code_challenge'))
    const response = await fetch(href, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE) })
    const location = response.headers.get('location')
    if (!location) throw new Error(`the authorization endpoint answered ${response.status} without a Location`)
    const callback = new URL(location).searchParams
    if (callback.get('state') !== question.get('state')) throw new Error('the authorization answer has another state')
    return callback
  }

  get consented() {
    return this.#consent !== undefined
  }

  // Let the consent become tokens, once for all who wait for it.
  redeem(exchange) {
    this.#redeeming ??= this.#redeem(exchange).finally(() => (this.#redeeming = undefined))
    return this.#redeeming
  }

  async #redeem(exchange) {
    try {
      await exchange(await this.#consent)
      this.redeemed += 1
    } finally {
      this.#consent = undefined
    }
  }
}

// A workload whose platform gave it a token: the SDK has no provider for it, but asks a provider for the grant.
class Workload extends Credentials {
  redirectUrl = undefined
  clientMetadata = { client_name: 'typescript-sdk-2-conformance', redirect_uris: [] }

  constructor(plan) {
    super(plan)
    this.prepareTokenRequest = (scope) =>
      new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: plan.valid_jwt,
        ...(scope && { scope }),
      })
  }

  redirectToAuthorization() {
    throw new Error('a workload has no user to redirect')
  }

  saveCodeVerifier() {}

  codeVerifier() {
    throw new Error('a workload has no code verifier')
  }
}

function machine({ client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey, ...plan }) {
  if (!privateKey) return new ClientCredentialsProvider({ clientId, clientSecret })
  return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: plan.signing_algorithm ?? 'ES256' })
}

function enterprise(plan) {
  const assertion = async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
      tokenEndpoint: plan.idp_token_endpoint,
      audience: authorizationServerUrl,
      resource: resourceUrl,
      idToken: plan.idp_id_token,
      clientId: plan.idp_client_id,
      scope,
      fetchFn,
    })
    return jwtAuthGrant
  }
  return new CrossAppAccessProvider({ assertion, clientId: plan.client_id, clientSecret: plan.client_secret })
}

const PROVIDERS = {
  authorization_code: (plan) => new ConsentingUser(plan),
  client_credentials: machine,
  token_exchange: enterprise,
  jwt_bearer: (plan) => new Workload(plan),
}

// Nothing where the scenario has no authorization.
export function providerFor(plan) {
  if (!plan.oauth) return undefined
  const make = PROVIDERS[plan.oauth.grant]
  if (!make) throw new Error(`this client has no grant ${plan.oauth.grant}`)
  return make(plan)
}
