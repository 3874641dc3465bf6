"""Everybody has a space of their own, teams share one, and each conversation is in a space.

Postgres makes a person's space with the person, under the same number, and keeps it. Each
conversation that was there is its owner's. Rows of people and conversations are written, none of
turns: beside a million of these, of 25,000 conversations, it takes a second.
"""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

TEAMS_FROM = 2**40

# The numbers of teams are far from those of people, also after TRUNCATE ... RESTART IDENTITY.
NUMBER_TEAMS = f"""
ALTER TABLE chat_space ALTER COLUMN id
SET START WITH {TEAMS_FROM} SET MINVALUE {TEAMS_FROM} RESTART WITH {TEAMS_FROM};
"""

KEEP_OWN_SPACES = """
CREATE FUNCTION chat_user_keep_own_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO chat_space (id, kind, person_id, name, slug, created_at)
    VALUES (NEW.id, 'person', NEW.id, NEW.username, '~' || NEW.username, NEW.date_joined)
    ON CONFLICT (id) DO NOTHING;
  ELSE
    UPDATE chat_space SET name = NEW.username, slug = '~' || NEW.username WHERE id = NEW.id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER chat_user_own_space AFTER INSERT OR UPDATE OF username ON chat_user
FOR EACH ROW EXECUTE FUNCTION chat_user_keep_own_space();

CREATE FUNCTION chat_space_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM chat_user WHERE id = OLD.person_id) THEN
    RAISE 'The own space of person % is there for as long as the person.', OLD.person_id
    USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;

-- At the end of the transaction, in which the person may be deleted after their space.
CREATE CONSTRAINT TRIGGER chat_space_stays AFTER DELETE ON chat_space
DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (OLD.kind = 'person') EXECUTE FUNCTION chat_space_stay();

INSERT INTO chat_space (id, kind, person_id, name, slug, created_at)
SELECT id, 'person', id, username, '~' || username, date_joined FROM chat_user;
"""
FORGET_OWN_SPACES = """
DROP TRIGGER chat_space_stays ON chat_space;
DROP FUNCTION chat_space_stay;
DROP TRIGGER chat_user_own_space ON chat_user;
DROP FUNCTION chat_user_keep_own_space;
"""

GIVE_SPACES = "UPDATE chat_conversation SET space_id = owner_id;"

KEEP_IN_SPACE = """
CREATE FUNCTION chat_conversation_take_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.space_id := NEW.owner_id;
  RETURN NEW;
END $$;

CREATE TRIGGER chat_conversation_space BEFORE INSERT ON chat_conversation
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_conversation_take_space();

CREATE FUNCTION chat_conversation_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM chat_run WHERE conversation_id = OLD.id) THEN
    RAISE 'Conversation % has runs, which are found and counted by its space and kind.', OLD.id
    USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER chat_conversation_stays BEFORE UPDATE OF space_id, kind ON chat_conversation
FOR EACH ROW WHEN (OLD.space_id <> NEW.space_id OR OLD.kind <> NEW.kind)
EXECUTE FUNCTION chat_conversation_stay();
"""
FORGET_SPACE = """
DROP TRIGGER chat_conversation_stays ON chat_conversation;
DROP FUNCTION chat_conversation_stay;
DROP TRIGGER chat_conversation_space ON chat_conversation;
DROP FUNCTION chat_conversation_take_space;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0018_requests_as_pieces'),
    ]

    operations = [
        migrations.CreateModel(
            name='Space',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('person', 'person'), ('team', 'team')], db_default='team', default='team', editable=False, max_length=6)),
                ('person', models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='own_space', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=150)),
                ('slug', models.CharField(max_length=151, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(-[a-z0-9]+)*$', 'A slug is of a-z, 0-9 and single hyphens.')])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['slug'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('id__lt', TEAMS_FROM), ('kind', 'person'), ('person_id', models.F('id')), ('person_id__isnull', False), ('slug__startswith', '~')), models.Q(('id__gte', TEAMS_FROM), ('kind', 'team'), ('person', None), ('slug__regex', '^[a-z0-9]+(-[a-z0-9]+)*$')), _connector='OR'), name='space_is_a_persons_or_a_teams')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('space', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='chat.space')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('member', 'member'), ('reviewer', 'reviewer'), ('analyst', 'analyst'), ('admin', 'admin')], db_default='member', default='member', max_length=8)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['space', 'user'],
                'constraints': [
                    models.UniqueConstraint(fields=('space', 'user'), name='one_membership_of_a_space'),
                    models.CheckConstraint(condition=models.Q(('role__in', ['member', 'reviewer', 'analyst', 'admin'])), name='membership_role_is_known'),
                    models.CheckConstraint(condition=models.Q(('space__gte', TEAMS_FROM)), name='membership_is_of_a_team'),
                ],
            },
        ),
        migrations.RunSQL(NUMBER_TEAMS, migrations.RunSQL.noop),
        migrations.RunSQL(KEEP_OWN_SPACES, FORGET_OWN_SPACES),
        migrations.AddField(
            model_name='conversation',
            name='space',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='conversations', to='chat.space'),
        ),
        migrations.RunSQL(GIVE_SPACES, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='conversation',
            name='space',
            field=models.ForeignKey(editable=False, on_delete=django.db.models.deletion.RESTRICT, related_name='conversations', to='chat.space'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(('space', models.F('owner')), ('space__gte', TEAMS_FROM), _connector='OR'), name='conversation_is_in_own_space_or_a_teams'),
        ),
        migrations.RunSQL(KEEP_IN_SPACE, FORGET_SPACE),
    ]
