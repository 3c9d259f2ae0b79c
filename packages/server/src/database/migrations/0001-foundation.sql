-- Games, what they sell, who bought it, and the signed events that follow.
-- Every table that grows with traffic has game_id first in its keys, so that it can be sharded by game.
-- Ids and times are made by the program.

CREATE TABLE games (
  id         text PRIMARY KEY,
  title      text NOT NULL,
  created_at timestamptz NOT NULL
);

-- One row a game. Whoever adds events takes the row's lock until commit, so that the order of positions
-- is the order of commits and no reader's cursor can pass an event that is still to come.
-- Rewritten with every group of purchases: the free space keeps those updates inside the page.
CREATE TABLE game_feeds (
  game_id       text PRIMARY KEY REFERENCES games,
  last_position bigint NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE leaderboards (
  game_id      text NOT NULL REFERENCES games,
  id           text NOT NULL,
  name         text NOT NULL CHECK (name ~ '^[a-z0-9_-]+$'),
  display_name text NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 200),
  sort_order   smallint NOT NULL CHECK (sort_order IN (0, 1)),
  display_type smallint NOT NULL CHECK (display_type IN (0, 1, 2, 3)),
  visible      boolean NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (game_id, id),
  UNIQUE (game_id, name)
);

CREATE TABLE contents (
  game_id            text NOT NULL REFERENCES games,
  content_identifier text NOT NULL,
  type               text NOT NULL CHECK (type IN ('CONSUMABLE', 'DURABLE')),
  title              text NOT NULL,
  price_amount       integer NOT NULL CHECK (price_amount >= 0),
  price_currency     text NOT NULL,
  files              jsonb NOT NULL,
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL,
  PRIMARY KEY (game_id, content_identifier)
);

-- A fulfil changes no indexed column, so with some free space it rewrites no index entry.
CREATE TABLE purchases (
  game_id            text NOT NULL,
  purchase_id        text NOT NULL,
  user_id            text NOT NULL,
  content_identifier text NOT NULL,
  type               text NOT NULL CHECK (type IN ('CONSUMABLE', 'DURABLE')),
  env                text NOT NULL CHECK (env IN ('PRODUCTION', 'PLAYTEST')),
  source             text NOT NULL CHECK (source IN ('PAYWALL', 'STORE_PAGE', 'GIFT_CODE')),
  state              text NOT NULL CHECK (state IN ('COMPLETED', 'FULFILLED', 'REFUNDED')),
  price_amount       integer NOT NULL,
  price_currency     text NOT NULL,
  purchased_at       timestamptz NOT NULL,
  fulfilled_at       timestamptz,
  fulfilled_by       text CHECK (fulfilled_by IN ('RECEIPT', 'PLAYER')),
  refunded_at        timestamptz,
  refund_reason      text,
  PRIMARY KEY (game_id, purchase_id),
  FOREIGN KEY (game_id, content_identifier) REFERENCES contents,
  CHECK ((fulfilled_at IS NULL) = (fulfilled_by IS NULL)),
  CHECK ((state = 'REFUNDED') = (refunded_at IS NOT NULL)),
  CHECK (state <> 'FULFILLED' OR (fulfilled_at IS NOT NULL AND type = 'CONSUMABLE')),
  CHECK (state <> 'COMPLETED' OR fulfilled_at IS NULL)
) WITH (fillfactor = 85);

CREATE INDEX purchases_by_user ON purchases (game_id, user_id, purchase_id);

-- One row a signed receipt. The unique key says that a purchase completes once and is refunded once.
CREATE TABLE events (
  game_id     text NOT NULL,
  position    bigint NOT NULL,
  id          text NOT NULL,
  event       text NOT NULL CHECK (event IN ('purchase.completed', 'purchase.refunded')),
  env         text NOT NULL,
  purchase_id text NOT NULL,
  kid         text NOT NULL,
  receipt_jwt text NOT NULL,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (game_id, position),
  UNIQUE (game_id, id),
  UNIQUE (game_id, purchase_id, event),
  FOREIGN KEY (game_id, purchase_id) REFERENCES purchases
);
CREATE INDEX events_by_env ON events (game_id, env, position);

-- One row an event: whether and when it is to be sent to the game's backend.
CREATE TABLE deliveries (
  game_id         text NOT NULL,
  id              text NOT NULL,
  event_position  bigint NOT NULL,
  env             text NOT NULL,
  state           text NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'CANCELED', 'NOT_SENT')),
  attempt_count   integer NOT NULL,
  next_attempt_at timestamptz,
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  PRIMARY KEY (game_id, id),
  UNIQUE (game_id, event_position),
  FOREIGN KEY (game_id, event_position) REFERENCES events,
  CHECK ((state = 'PENDING') = (next_attempt_at IS NOT NULL))
);

-- A blank URL, or no row, turns webhooks off for that environment.
CREATE TABLE webhook_endpoints (
  game_id    text NOT NULL REFERENCES games,
  env        text NOT NULL CHECK (env IN ('PRODUCTION', 'PLAYTEST')),
  url        text NOT NULL CHECK (url = '' OR url LIKE 'https://%'),
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (game_id, env)
);

-- What was answered to a POST that carried an Idempotency-Key, sealed because an answer may hold a token.
CREATE TABLE idempotency_keys (
  game_id      text NOT NULL,
  operation    text NOT NULL,
  caller       text NOT NULL,
  key          text NOT NULL,
  request_hash bytea NOT NULL,
  answer       bytea NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (game_id, operation, caller, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Small tables that are not per game.

CREATE TABLE access_tokens (
  id           text PRIMARY KEY,
  game_id      text NOT NULL REFERENCES games,
  token_hash   bytea NOT NULL UNIQUE,
  label        text NOT NULL,
  scopes       text[] NOT NULL,
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz,
  last_used_at timestamptz
);
CREATE INDEX access_tokens_by_game ON access_tokens (game_id, id);

-- A public key stays for ever unless it is revoked: receipts do not expire.
-- A private key exists only while its key signs or is next to sign.
CREATE TABLE signing_keys (
  kid            text PRIMARY KEY,
  state          text NOT NULL CHECK (state IN ('NEXT', 'ACTIVE', 'RETIRED', 'REVOKED')),
  public_jwk     jsonb NOT NULL,
  private_sealed bytea,
  created_at     timestamptz NOT NULL,
  activated_at   timestamptz,
  retired_at     timestamptz,
  revoked_at     timestamptz,
  CHECK ((state IN ('NEXT', 'ACTIVE')) = (private_sealed IS NOT NULL))
);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (state) WHERE state = 'ACTIVE';
CREATE UNIQUE INDEX signing_keys_one_next ON signing_keys (state) WHERE state = 'NEXT';

-- Every address that this installation has signed as. Receipts never expire, so what was signed under an earlier one
-- is still ours.
CREATE TABLE issuers (
  url           text PRIMARY KEY,
  first_used_at timestamptz NOT NULL
);
