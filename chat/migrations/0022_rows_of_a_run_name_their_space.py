"""Turns, actions, model calls, pieces and approvals name the space of their run.

So each table that grows with use can be divided by it. A worker names the space with the row; for
whoever does not, an earlier release that is still at work among them, Postgres looks it up. The
rows that are there get theirs by the next migration: this one reads and writes none, so it takes a
moment whatever is stored. A run stays in its space, as its conversation does, so what a row names
never changes.
"""

from django.db import migrations, models

MODELS = ("turn", "modelcall", "piece", "approval", "action")

TAKE_SPACE = """
CREATE FUNCTION chat_take_space_of_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT space_id INTO NEW.space_id FROM chat_run WHERE id = NEW.run_id;
  RETURN NEW;
END $$;

CREATE FUNCTION chat_take_space_of_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT run.space_id INTO NEW.space_id
  FROM chat_turn AS turn JOIN chat_run AS run ON run.id = turn.run_id WHERE turn.id = NEW.turn_id;
  RETURN NEW;
END $$;

CREATE TRIGGER chat_turn_space BEFORE INSERT OR UPDATE OF space_id ON chat_turn
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_take_space_of_run();

CREATE TRIGGER chat_modelcall_space BEFORE INSERT OR UPDATE OF space_id ON chat_modelcall
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_take_space_of_run();

CREATE TRIGGER chat_piece_space BEFORE INSERT OR UPDATE OF space_id ON chat_piece
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_take_space_of_run();

CREATE TRIGGER chat_approval_space BEFORE INSERT OR UPDATE OF space_id ON chat_approval
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_take_space_of_run();

CREATE TRIGGER chat_action_space BEFORE INSERT OR UPDATE OF space_id ON chat_action
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_take_space_of_turn();
"""
LEAVE_SPACE = """
DROP TRIGGER chat_action_space ON chat_action;
DROP TRIGGER chat_approval_space ON chat_approval;
DROP TRIGGER chat_piece_space ON chat_piece;
DROP TRIGGER chat_modelcall_space ON chat_modelcall;
DROP TRIGGER chat_turn_space ON chat_turn;
DROP FUNCTION chat_take_space_of_turn;
DROP FUNCTION chat_take_space_of_run;
"""

# After the row, whose space another trigger takes from the conversation before it.
KEEP_IN_SPACE = """
CREATE FUNCTION chat_run_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'Run % stays in its space, which all that is stored of it names.', OLD.id
  USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER chat_run_stays AFTER UPDATE OF owner_id, space_id, lane, conversation_id ON chat_run
FOR EACH ROW WHEN (OLD.space_id <> NEW.space_id) EXECUTE FUNCTION chat_run_stay();
"""
LET_MOVE = """
DROP TRIGGER chat_run_stays ON chat_run;
DROP FUNCTION chat_run_stay;
"""


class Migration(migrations.Migration):
    dependencies = [("chat", "0021_foreign_policies")]

    operations = [
        *(
            migrations.AddField(model, "space_id", models.BigIntegerField(editable=False, null=True))
            for model in MODELS
        ),
        migrations.RunSQL(TAKE_SPACE, LEAVE_SPACE),
        migrations.RunSQL(KEEP_IN_SPACE, LET_MOVE),
    ]
